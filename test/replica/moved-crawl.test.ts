// A crawl that moves from machine to machine in the middle of its work ends with exactly the truth, each page once.

import { constants, copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { MemoryEngine } from '../../src/engine/index.ts'
import { type PageRecord, readJsonLines } from '../../src/store/index.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { FAST, temporaryDirectory } from '../crawl/run-crawl.ts'
import { stay, takeShare, whenPages } from './moved-crawl.ts'

test('taken over by force, given back, made from a snapshot: the same pages as a crawl that never moved', async () => {
  const web = await startTestWeb({ hosts: 4, pages: 60, crossHostShare: 0.2, meanBytes: 3_000 })
  onTestFinished(() => web.stop())
  const engine = MemoryEngine.create()
  const root = temporaryDirectory(onTestFinished)
  const seeds = web.seeds().map((seed) => canonicalise(seed) as CanonicalUrl)
  const [a, b, c] = ['a', 'b', 'c'].map((node, hours) => ({
    engine: engine.client(),
    node,
    dir: join(root, node),
    skewMs: hours * 3_600_000,
    seeds,
  }))
  if (a === undefined || b === undefined || c === undefined) throw new Error('three machines')

  // Another begins while it works: it hears so with its next batch, and nothing of that batch counts.
  const first = await stay({
    ...a,
    incarnation: 'a1',
    during: (crawl) => whenPages(crawl, 40, () => takeShare(b.engine, 'b', 'b1')),
  })
  expect(first.fault).toMatchObject({ code: 'SHARE_LOST' })

  // The heir has nothing: it reads the log from its beginning, and takes a snapshot.
  let taken: unknown = null
  const second = await stay({
    ...b,
    incarnation: 'b1',
    seeds: [],
    during: (crawl, replica) =>
      whenPages(crawl, 70, async () => {
        taken = await replica.snapshot(crawl)
      }),
    flags: { ...FAST, 'max-pages': '110' },
  })
  expect(taken).toMatchObject({ files: expect.any(Number) })
  expect(second.replica.made).toMatchObject({ from: 'log', aside: null })
  expect(second.reason).toBe('max-pages')

  // The former owner is back: it has what it had, and reads what it lacks.
  const third = await stay({ ...a, incarnation: 'a2', seeds: [], flags: { ...FAST, 'max-pages': '170' } })
  expect(third.reason).toBe('max-pages')
  expect(third.replica.made).toMatchObject({ from: 'log', aside: null, archivesMissing: [] })

  // And one that comes last has the snapshot, and what came after it.
  const last = await stay({ ...c, incarnation: 'c1', seeds: [] })
  expect(last.replica.made).toMatchObject({ from: 'snapshot', aside: null })
  expect(last.reason).toBe('finished')

  const pages = await Array.fromAsync(readJsonLines<PageRecord>(join(c.dir, 'pages.jsonl')))
  expect(pages.map(({ url }) => url).toSorted()).toEqual([...web.truth().pages.keys()].toSorted())
  for (const { warc } of pages) {
    expect([a, b, c].filter(({ dir }) => existsSync(join(dir, warc?.file ?? '-')))).toHaveLength(1)
  }
  // What the machines have archived is, put together, one valid archive.
  for (const { dir } of [a, b]) {
    for (const name of readdirSync(join(dir, 'archive')).filter((one) => one.includes('.warc'))) {
      copyFileSync(join(dir, 'archive', name), join(c.dir, 'archive', name), constants.COPYFILE_EXCL)
    }
  }
  expect(checkArchive(c.dir).problems).toEqual([])
})
