// What does a page cost in the log of its share, and what does it take to make the share anew?
//
//   node bench/replica.ts [pages]
//
// A crawl of the synthetic web, with its state kept in an engine in memory; then the same batches once more, step by step: the ends of the
// files read and packed at several levels of zstd, the whole way to entries, and the share made anew from log and from a snapshot.
// CPU time of this process, best of five rounds. What the engine itself takes (network, disk of its server) is not in it.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { constants, zstdCompressSync } from 'node:zlib'
import { REPLICA_FILES } from '../src/agent/index.ts'
import { Random, systemClock } from '../src/base/index.ts'
import { MemoryEngine } from '../src/engine/index.ts'
import { chainDigest, decodeBatch, lookAtRecords, type PreparedBatch } from '../src/ledger/index.ts'
import { partsOf } from '../src/replica/batch-set.ts'
import { readTails, type States, type Tail, tailsBetween } from '../src/replica/file-tails.ts'
import { ShareReplica } from '../src/replica/index.ts'
import { canonicalise, type CanonicalUrl } from '../src/url/index.ts'
import { FAST } from '../test/crawl/run-crawl.ts'
import { IDENTITY, stay, takeShare } from '../test/replica/moved-crawl.ts'
import { startTestWeb } from '../testweb/index.ts'

const ROUNDS = 5
const PAGES = Number(process.argv[2] ?? 4_000)
const HOSTS = 20

interface Step {
  readonly batch: PreparedBatch
  readonly before: string
  readonly tails: readonly Tail[]
}

const root = mkdtempSync(join(tmpdir(), 'portolan-bench-'))
const web = await startTestWeb({ hosts: HOSTS, pages: PAGES / HOSTS, meanBytes: 2_000, crossHostShare: 0.2 })
try {
  const engine = MemoryEngine.create()
  const dir = join(root, 'a')
  const seeds = web.seeds().map((seed) => canonicalise(seed) as CanonicalUrl)
  const flags = { ...FAST, warc: 'gzip' }
  await stay({
    engine: engine.client(),
    node: 'a',
    incarnation: '1',
    dir,
    skewMs: 0,
    seeds,
    flags,
  })
  const pages = web.truth().pages.size
  const steps = await stepsOf(dir)
  const perPage = (value: number): string => (value / pages).toFixed(2).padStart(9)
  console.log(`${pages} pages in ${steps.length} batches`)
  const bodies = steps.reduce((sum, { batch }) => sum + batch.body.length, 0)
  const raw = steps.reduce((sum, { tails }) => sum + tails.reduce((all, { at, end }) => all + end - at, 0), 0)
  console.log(`a page:  ${perPage(bodies)} bytes of batch, ${perPage(raw)} bytes of files before packing`)
  console.log('level      bytes a page   µs a page')
  for (const level of [1, 3, 5]) {
    const { us, result } = await best(async () => packAll(steps, level))
    console.log(`zstd ${level}     ${perPage(result)}    ${perPage(us)}`)
  }
  const whole = await best(async () => {
    let bytes = 0
    for (const { batch, before, tails } of steps) {
      const digest = batch.digest.toString('hex')
      const set = { first: batch.number, last: batch.number, before, digest, batches: () => [batch], tails }
      for await (const part of partsOf(set)) bytes += part.length
    }
    return bytes
  })
  console.log(
    `all of it  ${perPage(whole.result)}    ${perPage(whole.us)}   (${(whole.us / steps.length).toFixed(0)} µs a batch)`,
  )
  for (const place of ['b', 'c']) {
    const client = engine.client()
    const { us, result } = await timed(async () =>
      ShareReplica.open({
        engine: client,
        held: await takeShare(client, place, '1'),
        dir: join(root, place),
        crawlDir: join(root, place),
        identity: IDENTITY,
        files: REPLICA_FILES,
        clock: systemClock,
        random: new Random(1),
        isFenced: () => false,
      }),
    )
    console.log(`made from ${result.made.from}: ${result.made.added} batches, ${(us / 1000).toFixed(0)} ms of CPU time`)
    result.close()
    if (place === 'b') {
      let taken: unknown = null
      await stay({
        engine: client,
        node: 'b',
        incarnation: '2',
        dir: join(root, 'b'),
        skewMs: 0,
        seeds: [],
        flags,
        during: async (crawl, replica) => {
          taken = await replica.snapshot(crawl)
        },
      })
      console.log('snapshot:', taken)
    }
  }
} finally {
  await web.stop()
  rmSync(root, { recursive: true, force: true })
}

async function stepsOf(dir: string): Promise<Step[]> {
  const steps: Step[] = []
  let states: States = {}
  for await (const { number, follows, body } of lookAtRecords(join(dir, 'state/journal'), 0)) {
    const said = decodeBatch(body).files
    const batch = { number, body: Buffer.from(body), digest: chainDigest(number, follows, body) }
    steps.push({ batch, before: follows.toString('hex'), tails: tailsBetween(REPLICA_FILES, dir, states, said) })
    states = said
  }
  return steps
}

function packAll(steps: readonly Step[], level: number): number {
  let packed = 0
  for (const { tails } of steps) {
    for (const { bytes } of readTails(tails, 256 * 1024)) {
      packed += zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: level } }).length
    }
  }
  return packed
}

async function best<T>(work: () => Promise<T>): Promise<{ us: number; result: T }> {
  let least = await timed(work)
  for (let round = 1; round < ROUNDS; round++) {
    const next = await timed(work)
    if (next.us < least.us) least = next
  }
  return least
}

async function timed<T>(work: () => Promise<T>): Promise<{ us: number; result: T }> {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  return { us: user + system, result }
}
