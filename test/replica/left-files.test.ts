// Files of the archive that a node began for a share which is elsewhere now are cut to what the log has of them, and finished.

import { appendFileSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as nextTick } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Crawl } from '../../src/agent/index.ts'
import { MemoryEngine } from '../../src/engine/index.ts'
import { leftArchive } from '../../src/replica/index.ts'
import { type PageRecord, readJsonLines } from '../../src/store/index.ts'
import { LeftFiles } from '../../src/supervise/left-files.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { FAST, temporaryDirectory } from '../crawl/run-crawl.ts'
import { checkWarcFile } from '../warc-check.ts'
import { stay, type Stay, takeShare, whenPages } from './moved-crawl.ts'

interface Stand {
  readonly engine: MemoryEngine
  readonly web: TestWeb
  readonly a: Omit<Stay, 'incarnation'>
  readonly b: Omit<Stay, 'incarnation'>
}

async function stand(): Promise<Stand> {
  const web = await startTestWeb({ hosts: 3, pages: 20, meanBytes: 3_000 })
  onTestFinished(() => web.stop())
  const engine = MemoryEngine.create()
  const root = temporaryDirectory(onTestFinished)
  const seeds = web.seeds().map((seed) => canonicalise(seed) as CanonicalUrl)
  const stayOf = (node: string, own: readonly CanonicalUrl[]): Omit<Stay, 'incarnation'> => {
    return { engine: engine.client(), node, dir: join(root, node), skewMs: 0, seeds: own, isNamed: true }
  }
  return { engine, web, a: stayOf('a', seeds), b: stayOf('b', []) }
}

function leftIn({ dir, node, engine }: Omit<Stay, 'incarnation'>): LeftFiles {
  return new LeftFiles({
    dir,
    node,
    engine,
    withoutAgent: async (_, work) => {
      await work()
      return true
    },
    onShort: (_, file) => expect.unreachable(`${file} is short`),
  })
}

/** A torn end, as a kill leaves it, and a file of which nothing was committed. */
function tear(dir: string): string {
  const folder = join(dir, 'archive')
  const open = readdirSync(folder).filter((name) => name.endsWith('.open'))
  expect(open).toHaveLength(1)
  const [name = ''] = open
  appendFileSync(join(folder, name), Buffer.alloc(777, 31))
  writeFileSync(join(folder, name.replace(/\d{5}\.warc/, '00099.warc')), 'begun')
  return `archive/${name.slice(0, -'.open'.length)}`
}

/** Until a batch speaks of a page, which is in the archive. */
async function whenArchived(crawl: Crawl): Promise<void> {
  while (((crawl.states['pages'] as number | undefined) ?? 0) === 0) await nextTick(1)
}

test('a killed node that lost its share keeps what was committed of its file, to the byte, also after snapshots of the heir', async () => {
  const { a, b, engine, web } = await stand()
  const first = await stay({
    ...a,
    incarnation: 'a1',
    // It is not done when its first batch is.
    flags: { ...FAST, 'max-rate': '100' },
    during: async (crawl) => {
      await whenArchived(crawl)
      await takeShare(b.engine, 'b', 'b1')
    },
  })
  expect(first.fault).toMatchObject({ code: 'SHARE_LOST' })
  const file = tear(a.dir)
  const { archive } = await leftArchive(engine.client(), 0, 'a')
  const committed = archive?.open
  expect(committed).toMatchObject({ file, length: expect.any(Number) })

  // The heir's second snapshot is the end of a's batches in the log: the manifest must know.
  await stay({
    ...b,
    incarnation: 'b1',
    during: async (crawl, replica) => {
      await whenPages(crawl, 35, () => replica.snapshot(crawl))
      await whenPages(crawl, 50, () => replica.snapshot(crawl))
    },
  })
  const log = await engine.client().log('share-0')
  expect(await log.first()).toBeGreaterThan(2)
  expect((await leftArchive(engine.client(), 0, 'a')).archive?.open).toEqual(committed)

  const left = leftIn(a)
  await left.look()
  expect(left.figures).toEqual({ finished: 1, removed: 1, short: 0 })
  expect(readdirSync(join(a.dir, 'archive')).filter((name) => name.endsWith('.open'))).toEqual([])
  expect(statSync(join(a.dir, file)).size).toBe(committed?.length)
  const { records, problems } = checkWarcFile(join(a.dir, file))
  expect(problems).toEqual([])
  const places = new Set(records.map(({ offset }) => offset))
  const pages = await Array.fromAsync(readJsonLines<PageRecord>(join(b.dir, 'pages.jsonl')))
  expect(pages).toHaveLength(web.truth().pages.size)
  const own = pages.filter(({ warc }) => warc?.file === file)
  expect(own.length).toBeGreaterThan(0)
  for (const { warc } of own) expect(places.has(warc?.offset ?? -1)).toBe(true)
  await left.look()
  expect(left.figures).toEqual({ finished: 1, removed: 1, short: 0 })
})

test('a file is left alone while an earlier life of the node has the share, and while an agent is here', async () => {
  const { a, b, engine } = await stand()
  let opened = ''
  await stay({
    ...a,
    incarnation: 'a1',
    during: async (crawl) => {
      await whenArchived(crawl)
      const left = leftIn(a)
      await left.look()
      const refusing = new LeftFiles({
        ...{ dir: a.dir, node: 'a', engine: engine.client() },
        withoutAgent: async () => false,
        onShort: () => {},
      })
      await refusing.look()
      for (const { figures } of [left, refusing]) expect(figures).toEqual({ finished: 0, removed: 0, short: 0 })
      opened = readdirSync(join(a.dir, 'archive')).find((name) => name.endsWith('.open')) ?? ''
      crawl.stop('interrupted')
    },
  })
  // Given up in order: finished by its agent.
  expect(existsSync(join(a.dir, 'archive', opened))).toBe(false)
  expect(existsSync(join(a.dir, 'archive', opened.slice(0, -'.open'.length)))).toBe(true)
  await takeShare(b.engine, 'b', 'b1')
  const left = leftIn(a)
  await left.look()
  expect(left.figures).toEqual({ finished: 0, removed: 0, short: 0 })
})
