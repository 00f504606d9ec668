// Fuzzes the HTML scanner against its oracle, in as many threads as there are processors:
//
//   node tools/fuzz-html.ts [--pages 1000000] [--seed html] [--threads 2]
//   node tools/fuzz-html.ts --seed html --only 4711       shows one page and what is wrong with it
//
// Pages are numbered; page n depends on seed, n and the pool of real pages alone. Prints every problem with its number, then
// the figures, and exits 1 if there was one.

import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { checkPage } from '../test/oracle/fuzz-check.ts'
import { FuzzPages } from '../test/oracle/fuzz-pages.ts'
import { fuzzPool, poolName } from '../test/oracle/fuzz-pool.ts'

interface Shard {
  readonly seed: string
  readonly first: number
  readonly pages: number
  readonly step: number
  readonly pool: readonly Uint8Array[]
}

interface Figures {
  readonly bytes: number
  readonly compared: number
  readonly problems: readonly { number: number; problem: string; page: string }[]
  /** Of the slowest page, in ms of processor time of its thread, and per kB. */
  readonly slowest: { readonly number: number; readonly ms: number }
}

/** More would only repeat the first. */
const PROBLEMS_MAX = 20

function runShard({ seed, first, pages, step, pool }: Shard): Figures {
  const made = new FuzzPages(
    seed,
    pool.map((page) => Buffer.from(page)),
  )
  const problems: { number: number; problem: string; page: string }[] = []
  let bytes = 0
  let compared = 0
  let slowest = { number: -1, ms: 0 }
  for (let number = first; number < pages && problems.length < PROBLEMS_MAX; number += step) {
    const page = made.page(number)
    const before = process.threadCpuUsage()
    const verdict = checkPage(page)
    const { user, system } = process.threadCpuUsage(before)
    const ms = (user + system) / 1e3
    if (ms > slowest.ms) slowest = { number, ms }
    bytes += page.bytes.length
    if (verdict.isCompared) compared++
    if (verdict.problem !== null)
      problems.push({ number, problem: verdict.problem, page: describe(page.bytes, page.charset) })
  }
  return { bytes, compared, problems, slowest }
}

function describe(bytes: Buffer, charset: string | null): string {
  return `${charset} ${JSON.stringify(bytes.toString('latin1'))}`
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      pages: { type: 'string', default: '1000000' },
      seed: { type: 'string', default: 'html' },
      threads: { type: 'string', default: String(availableParallelism()) },
      only: { type: 'string' },
    },
  })
  const pool = fuzzPool()
  console.log(`seed ${values.seed}, pool of ${poolName(pool)}`)
  if (values.only !== undefined) {
    const page = new FuzzPages(values.seed, pool).page(Number(values.only))
    console.log(describe(page.bytes, page.charset))
    console.log(checkPage(page).problem ?? 'nothing is wrong with it')
    return
  }
  const step = Number(values.threads)
  const started = performance.now()
  const figures = await Promise.all(
    Array.from({ length: step }, (_, first) =>
      inThread({ seed: values.seed, first, pages: Number(values.pages), step, pool }),
    ),
  )
  const problems = figures.flatMap((one) => one.problems)
  for (const { number, problem, page } of problems) console.log(`page ${number}: ${page}\n  ${problem}`)
  const sum = (of: (one: Figures) => number): number => figures.reduce((total, one) => total + of(one), 0)
  const { user, system } = process.cpuUsage()
  const slowest = figures.map((one) => one.slowest).reduce((a, b) => (a.ms >= b.ms ? a : b))
  console.log(
    `${values.pages} pages, ${(sum((one) => one.bytes) / 1e6).toFixed(1)} MB, ${sum((one) => one.compared)} compared with parse5, ` +
      `${problems.length} problems; ${((performance.now() - started) / 1e3).toFixed(0)} s, ${((user + system) / 1e6).toFixed(0)} s of processor time; ` +
      `slowest page ${slowest.number}: ${slowest.ms.toFixed(1)} ms`,
  )
  process.exitCode = problems.length === 0 ? 0 : 1
}

function inThread(shard: Shard): Promise<Figures> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: shard })
    worker.on('message', resolve)
    worker.on('error', reject)
  })
}

if (isMainThread) await main()
else parentPort?.postMessage(runShard(workerData as Shard))
