// Does a change make a page cheaper? Two Portolans crawl the same web at the same time, again and again: what the machine's neighbours
// do meanwhile, they do to both.
//
//   node bench/pairs.ts --other DIR            this clone beside another one, where `npm ci` was run
//   node bench/pairs.ts --flag=--no-maglev     this clone beside itself with a flag of Node's
//                       [--rounds 5] [--pages 51200] [--hosts 64] [--bytes 14000] [--warc none] [--agents 1] [--json FILE]
//
// On a virtual machine one crawl takes 224 µs of CPU a page and the next 310, by what others do to the memory they share. Of two that
// run side by side the ratio is the same within one or two per cent, so that five rounds tell a gain of two. Without --other and --flag
// both are the same: what comes out is the noise. Either side has less of the machine than it would have alone, so µs are not to be compared
// with those of other benches.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { needServer } from './peers/install.ts'
import { type Cost, measure } from './peers/measured-run.ts'
import { startOrigin } from './peers/origin.ts'
import { portolan } from './peers/portolan.ts'

const { values } = parseArgs({
  options: {
    other: { type: 'string' },
    flag: { type: 'string', multiple: true, default: [] },
    rounds: { type: 'string', default: '5' },
    pages: { type: 'string', default: '51200' },
    hosts: { type: 'string', default: '64' },
    bytes: { type: 'string', default: '14000' },
    warc: { type: 'string', default: 'none' },
    agents: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const LIMIT_SECONDS = 600
const hosts = Number(values.hosts)
const agents = Number(values.agents)
const otherLauncher = values.other === undefined ? undefined : join(resolve(values.other), 'bin', 'portolan.js')

needServer()
const origin = await startOrigin({
  kind: 'plain',
  hosts,
  pages: Math.ceil(Number(values.pages) / hosts),
  bytes: Number(values.bytes),
})
const folder = mkdtempSync(join(tmpdir(), 'portolan-pairs-'))
const sides = [
  { contender: portolan(values.warc, agents), flags: [] as readonly string[] },
  { contender: portolan(values.warc, agents, undefined, otherLauncher), flags: values.flag },
] as const
const rounds: { readonly micros: readonly [number, number]; readonly ratio: number }[] = []
try {
  // Each compiles itself once, and keeps that.
  await Promise.all(sides.map((side) => crawl(side)))
  console.log('\nCPU µs a page    this    other    other / this')
  for (let round = 0; round < Number(values.rounds); round++) {
    const [one, other] = await Promise.all([crawl(sides[0]), crawl(sides[1])])
    rounds.push({ micros: [one, other], ratio: other / one })
    console.log(
      `${String(Math.round(one)).padStart(21)} ${String(Math.round(other)).padStart(8)}   ${(other / one).toFixed(3)}`,
    )
  }
} finally {
  await origin.stop()
  rmSync(folder, { recursive: true, force: true })
}
const logs = rounds.map(({ ratio }) => Math.log(ratio))
const mean = logs.reduce((sum, one) => sum + one, 0) / logs.length
const spread = Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / Math.max(1, logs.length - 1))
const figures = { ratio: Math.exp(mean), standardError: spread / Math.sqrt(logs.length), rounds }
console.log(`The other takes ${figures.ratio.toFixed(3)} times as much, ± ${figures.standardError.toFixed(3)}`)
if (values.json !== undefined) {
  writeFileSync(
    values.json,
    `${JSON.stringify({ bench: 'pairs', date: new Date().toISOString(), options: values, ...figures }, null, 1)}\n`,
  )
}

/** CPU µs a page. */
async function crawl({ contender, flags }: (typeof sides)[number]): Promise<number> {
  const dir = mkdtempSync(join(folder, 'side-'))
  const task = { seedFile: origin.seedFile, dir, authorityFile: null }
  const { command, args } = contender.run(task)
  const cost: Cost = await measure({ command, args: [...flags, ...args] }, LIMIT_SECONDS)
  const pages = cost.exitCode === 0 ? contender.countPages(task, cost) : 0
  if (pages !== origin.pages.size)
    throw new Error(
      `one side has ${pages} of ${origin.pages.size} pages and ended with ${cost.exitCode}: ${cost.stderr}`,
    )
  rmSync(dir, { recursive: true })
  return (cost.cpuSeconds / pages) * 1e6
}
