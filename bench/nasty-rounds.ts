// Does anything stay behind? All nasty hosts of the test web crawled over and over in one process, and what is open and taken after
// each round.
//
//   node --expose-gc bench/nasty-rounds.ts [--rounds 20]
//
// Ends with 1 if sockets or files stay open, if a visit breaks, or if memory grows after the first quarter of the rounds.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crawl, FAST, QUICK_BACKOFF } from '../test/crawl/run-crawl.ts'
import { nastyLimits } from '../test/nasty/nasty-options.ts'
import { openDescriptors } from '../test/open-descriptors.ts'
import { startTestWeb } from '../testweb/index.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '20' } } })
const ROUNDS = Number(values.rounds)
/** Pages of memory that the system has not taken back yet come and go. */
const GROWTH_MIB_MAX = 24

const folder = mkdtempSync(join(tmpdir(), 'portolan-nasty-'))
const web = await startTestWeb({ hosts: 1, pages: 3, nasty: true })
const caFile = join(folder, 'ca.pem')
writeFileSync(caFile, web.authority ?? '')
// Time enough, on a busy machine too, that only those are given up who say nothing for ever.
const patience = { connectTimeout: '4s', headTimeout: '4s', stallTimeout: '4s', requestTimeout: '6s' }
const config = { ...QUICK_BACKOFF, fetch: { ...nastyLimits, ...patience, caFile } }
const before = openDescriptors()
const megabytes: number[] = []
let isBad = false
for (let round = 1; round <= ROUNDS; round++) {
  const dir = mkdtempSync(join(folder, 'crawl-'))
  const seeds = web.nasty?.urls() ?? []
  const { pages, failures } = await crawl({ seeds, dir, flags: { ...FAST, retries: '0', robots: 'ignore' }, config })
  rmSync(dir, { recursive: true })
  for (let turn = 0; turn < 2_000 && openDescriptors() > before; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
  }
  globalThis.gc?.()
  const rss = process.memoryUsage.rss() / 2 ** 20
  megabytes.push(rss)
  const open = openDescriptors() - before
  if (open > 0 || pages.length < 100 || failures.some((one) => one.reason === 'VISIT_BROKEN')) isBad = true
  console.log(
    `round ${round}: ${pages.length} pages, ${failures.length} others, ${open} left open, ${rss.toFixed(0)} MiB RSS`,
  )
}
await web.stop()
rmSync(folder, { recursive: true, force: true })
const settled = megabytes[Math.floor(ROUNDS / 4)] ?? 0
const grown = (megabytes.at(-1) ?? 0) - settled
console.log(JSON.stringify({ bench: 'nasty-rounds', rounds: ROUNDS, rssMiB: megabytes.at(-1), grownMiB: grown }))
process.exitCode = isBad || grown > GROWTH_MIB_MAX ? 1 : 0
