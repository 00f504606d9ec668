// A batch asks archive and index in one moment how long they are. Whatever that moment, every record has its line.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { digestOf, plainDocument } from '../../test/plain-document.ts'
import { ManualClock, Random } from '../base/index.ts'
import { CdxjWriter, WarcWriter } from '../store/index.ts'
import { storeOptions } from '../store/options.ts'
import { surt } from '../url/index.ts'
import { IndexedArchive } from './indexed-archive.ts'

const RECORDS = 200

test.for(['gzip', 'none'] as const)(
  '%s: a record counts in the same moment as its line, also while the disk is behind',
  async (warc) => {
    const directory = mkdtempSync(join(tmpdir(), 'portolan-indexed-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const options = { ...storeOptions.parse({}), warc }
    const settings = { directory, crawlName: 'test', agent: 0, options, info: {}, clock: new ManualClock() }
    const writer = await WarcWriter.open(settings)
    const index = await CdxjWriter.open({ path: join(directory, 'index.cdxj'), surt })
    const archive = new IndexedArchive(writer, index)
    const random = new Random('indexed')
    // What does not shrink, so that it is more than the writer takes into memory.
    const body = Buffer.from(Array.from({ length: 60_000 }, () => random.below(256)))
    const facts = { payloadDigest: digestOf(body), revisitOf: null, via: null, depth: 0 }
    await archive.write(plainDocument('http://a.test/first', body), facts)

    // Looked at whenever something may have happened: they grow in the same moment, or neither does.
    let before = { archive: writer.state().open?.length ?? 0, index: index.length }
    let steps = 0
    const look = (): void => {
      const now = { archive: writer.state().open?.length ?? 0, index: index.length }
      expect(now.archive > before.archive).toBe(now.index > before.index)
      if (now.index > before.index) steps++
      before = now
    }
    const writes: unknown[] = []
    for (let i = 0; i < RECORDS; i++) {
      const write = archive.write(plainDocument(`http://a.test/${i}`, body), facts)
      look()
      writes.push(write instanceof Promise ? write.then(look) : write)
    }
    expect(writes.some((write) => write instanceof Promise)).toBe(true)
    await Promise.all(writes)
    // Not all at once in the end.
    expect(steps).toBeGreaterThan(10)
    await archive.close()
    await index.close()
    expect(readFileSync(join(directory, 'index.cdxj'), 'utf8').trim().split('\n')).toHaveLength(RECORDS + 1)
  },
)
