// Does a change make a page cheaper? Two Portolans crawl the same web at the same time, again and again: what the machine's neighbours
// do meanwhile, they do to both.
//
//   node bench/pairs.ts --other DIR            this clone beside another one, where `npm ci` was run
//   node bench/pairs.ts --flag=--no-maglev     this clone beside itself with a flag of Node's
//                       [--rounds 5] [--pages 51200] [--hosts 64] [--bytes 14000] [--warc none] [--agents 1] [--json FILE]
//
// On a virtual machine one crawl takes 224 µs of CPU a page and the next 310, by what others do to the memory they share. Of two that
// run side by side the ratio stays within a few per cent, and its mean over some rounds tells gains of two or three; the range that is printed is
// the one in which it lies with 95 %. Without --other and --flag both are the same: what comes out is the noise.
//
// Read it with care: each side has half of the machine, so µs are not those of a crawl that has it alone; who ends later ends alone, so
// the ratio is rather too close to 1; and what one side does to the caches, the other feels. Both run by the Node of this clone, and by a bundle.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { meanRatio, sayRatio } from './mean-ratio.ts'
import { portolan } from './peers/portolan.ts'
import { crawlWhole, startPlainWeb } from './peers/whole-crawl.ts'

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
/** Changes nothing but that V8 has a flag, for which Node's own compiled code is refused, as it is for any flag: both sides pay that. */
const NEUTRAL_FLAG = '--stack-trace-limit=11'
const rounds = Number(values.rounds)
if (!(rounds >= 2)) throw new Error('--rounds: two at least, or nothing can be said of the noise')
const agents = Number(values.agents)
const otherLauncher = values.other === undefined ? undefined : join(resolve(values.other), 'bin', 'portolan.js')

const folders = [
  fileURLToPath(new URL('..', import.meta.url)),
  ...(values.other === undefined ? [] : [resolve(values.other)]),
]
for (const folder of folders)
  if (!isBundled(folder))
    throw new Error(`${folder} would run its sources, which takes longer: run 'npm run prepare' there`)

const origin = await startPlainWeb(values)
const folder = mkdtempSync(join(tmpdir(), 'portolan-pairs-'))
const sides = [
  { contender: portolan(values.warc, agents), flags: values.flag.length === 0 ? [] : [NEUTRAL_FLAG] },
  { contender: portolan(values.warc, agents, undefined, otherLauncher), flags: values.flag },
] as const
const results: { readonly micros: readonly [number, number]; readonly ratio: number }[] = []
try {
  // Each compiles itself once, and keeps that.
  await crawlBoth(0)
  console.log('\nCPU µs a page    this    other    other / this')
  for (let round = 0; round < rounds; round++) {
    const [one, other] = await crawlBoth(round)
    results.push({ micros: [one, other], ratio: other / one })
    const cells = [
      String(Math.round(one)).padStart(21),
      String(Math.round(other)).padStart(8),
      `  ${(other / one).toFixed(3)}`,
    ]
    console.log(cells.join(' '))
  }
} finally {
  await origin.stop()
  rmSync(folder, { recursive: true, force: true })
}
const mean = meanRatio(results.map(({ ratio }) => ratio))
console.log(`The other takes so many times as much: ${sayRatio(mean)}`)
if (values.json !== undefined) {
  const about = { bench: 'pairs', date: new Date().toISOString(), options: values }
  writeFileSync(values.json, `${JSON.stringify({ ...about, ...mean, results }, null, 1)}\n`)
}

/** Whoever is started first changes with the rounds. Both have ended when it throws. */
async function crawlBoth(round: number): Promise<[number, number]> {
  const order = round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)
  const ended = await Promise.allSettled(order.map((side) => crawl(sides[side])))
  const micros: [number, number] = [0, 0]
  for (const [place, end] of ended.entries()) {
    if (end.status === 'rejected') throw end.reason
    micros[order[place] as 0 | 1] = end.value
  }
  return micros
}

/** Whether a clone runs its bundle (bin/find-code.js). */
function isBundled(folder: string): boolean {
  const launcher = pathToFileURL(join(folder, 'bin', 'find-code.js')).href
  const script = `import { findBundled } from '${launcher}'; process.exit(findBundled('src/cli/main') === null ? 1 : 0)`
  return spawnSync(process.execPath, ['--input-type=module', '-e', script]).status === 0
}

/** CPU µs a page. */
async function crawl({ contender, flags }: (typeof sides)[number]): Promise<number> {
  const { cpuSeconds } = await crawlWhole(origin, contender, folder, flags)
  return (cpuSeconds / origin.pages.size) * 1e6
}
