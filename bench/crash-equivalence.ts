// Is a crawl that was killed dozens of times the crawl that was never killed? Crawls of many kinds, killed with SIGKILL at moments
// drawn from a seed, gone on with by the same command until they are done, and judged by the server's log and by their files.
//
//   npm run crash -- [--kills 60] [--seed 1] [--only gzip,three] [--json FILE]
//
// Kills are shared out among the kinds, ten to a crawl at most. Ends with 1 if anything does not hold. A minute for ten kills, about.

import { writeFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { parseArgs } from 'node:util'
import type { KillFigures } from '../test/crash/judge-lives.ts'
import { crash, CRASH_VARIANTS, type CrashVerdict } from '../test/crash/variants.ts'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string' },
    json: { type: 'string' },
  },
})
type Name = keyof typeof CRASH_VARIANTS
const known = Object.keys(CRASH_VARIANTS) as Name[]
const names = values.only === undefined ? known : known.filter((name) => values.only?.split(',').includes(name))
const KILLS_PER_CRAWL_MAX = 10

interface Crashed extends CrashVerdict {
  readonly variant: Name
  readonly seed: string
  readonly seconds: number
}

const startMs = performance.now()
const crawls: Crashed[] = []
const killed = (): number => crawls.reduce((sum, { kills }) => sum + kills.length, 0)
for (let round = 0; killed() < Number(values.kills); round++) {
  const variant = names[round % names.length]
  if (variant === undefined) throw new Error(`no kind of crawl is called ${values.only}; there are ${known.join(', ')}`)
  const left = Number(values.kills) - killed()
  const fair = Math.ceil(left / Math.max(1, names.length - round))
  const seed = `${values.seed}-${round}`
  const beganMs = performance.now()
  const verdict = await crash(CRASH_VARIANTS[variant], seed, Math.min(KILLS_PER_CRAWL_MAX, fair))
  const crawl = { variant, seed, ...verdict, seconds: Math.round((performance.now() - beganMs) / 100) / 10 }
  crawls.push(crawl)
  console.log(lineOf(crawl))
  for (const problem of verdict.problems.slice(0, 20)) console.log(`  ! ${problem}`)
}

const kills = crawls.flatMap((crawl) => crawl.kills)
const problems = crawls.reduce((sum, crawl) => sum + crawl.problems.length, 0)
console.log(`${kills.length} kills, ${crawls.length} crawls, ${problems} problems; ${costLine(kills)}`)
if (problems > 0) process.exitCode = 1
if (values.json !== undefined) {
  const { kills: asked, seed, only } = values
  const about = {
    bench: 'crash-equivalence',
    date: new Date().toISOString(),
    node: process.version,
    cpu: cpus()[0]?.model,
  }
  const seconds = Math.round((performance.now() - startMs) / 1_000)
  writeFileSync(
    values.json,
    `${JSON.stringify({ ...about, options: { kills: asked, seed, only }, seconds, problems, crawls }, null, 1)}\n`,
  )
}

function lineOf({
  variant,
  seed,
  kills: own,
  stops,
  pages,
  requests,
  restsLost,
  originalsTwice,
  seconds,
  problems: found,
}: Crashed): string {
  return (
    `${variant.padEnd(13)} seed ${seed.padEnd(5)} ${String(own.length).padStart(2)} kills, ${stops} stops, ${pages} pages, ` +
    `${requests} requests, ${costLine(own)}${restsLost > 0 ? `, ${restsLost} rests in no batch` : ''}` +
    `${originalsTwice > 0 ? `, ${originalsTwice} copies taken for originals` : ''}, ${seconds} s: ` +
    (found.length === 0 ? 'holds' : `${found.length} problems`)
  )
}

function costLine(own: readonly KillFigures[]): string {
  const lost = own.reduce((sum, kill) => sum + kill.lost, 0)
  const most = own.reduce((max, kill) => Math.max(max, kill.lost), 0)
  const spans = own
    .flatMap(({ sinceBatchMs }) => (sinceBatchMs === null ? [] : [sinceBatchMs]))
    .toSorted((a, b) => a - b)
  const middle = spans[Math.floor(spans.length / 2)]
  const span =
    middle === undefined
      ? ''
      : `, last batch ${Math.round(middle)} ms before the end in the middle, ${Math.round(spans.at(-1) ?? 0)} at most`
  return `${lost} answers asked for again (${most} at most in a kill)${span}`
}
