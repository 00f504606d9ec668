// How many URLs per second can the robots rules of a host decide, how fast is a robots.txt read, and what
// does the worst file one may send cost us per URL?
//
//   node bench/robots.ts
//
// Files and URLs are made from a fixed seed. Figures are CPU time of this process.

import { Random } from '../src/base/index.ts'
import { parseRobots, ROBOTS_BYTES_MAX } from '../src/robots/index.ts'

const SEED = 'bench-robots'
const random = new Random(SEED)
const words = Array.from({ length: 400 }, () =>
  Array.from({ length: 3 + random.below(8) }, () => String.fromCharCode(97 + random.below(26))).join(''),
)

function path(): string {
  const parts = Array.from({ length: 1 + random.below(4) }, () => random.pick(words))
  return `/${parts.join('/')}${random.below(4) === 0 ? `?${random.pick(words)}=${random.below(1000)}` : '.html'}`
}

/** Rules as sites write them: mostly directories, some stars, some ends. */
function robotsTxt(rules: number): string {
  const lines = ['User-agent: *']
  for (let i = 0; i < rules; i++) {
    const shape = random.below(10)
    const rule =
      shape < 7 ? `/${random.pick(words)}/` : shape < 9 ? `/*/${random.pick(words)}` : `/*.${random.pick(words)}$`
    lines.push(`${random.below(6) === 0 ? 'Allow' : 'Disallow'}: ${rule}`)
  }
  return lines.join('\n')
}

/** CPU seconds of doing `work` `times` times, warmed up. */
function cpuSeconds(times: number, work: () => void): number {
  for (let i = 0; i < Math.min(times, 100); i++) work()
  const before = process.cpuUsage()
  for (let i = 0; i < times; i++) work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

const urls = Array.from({ length: 1_000 }, path)
const decisionsPerSecond: Record<string, number> = {}
for (const count of [10, 100, 1_000]) {
  const rules = parseRobots(Buffer.from(robotsTxt(count))).rulesFor('portolan')
  const rounds = 200_000 / count / 10
  const seconds = cpuSeconds(rounds, () => {
    for (const url of urls) rules.decide(url)
  })
  decisionsPerSecond[`${count} rules`] = Math.round((rounds * urls.length) / seconds)
}

const large = Buffer.from(robotsTxt(20_000)).subarray(0, ROBOTS_BYTES_MAX)
const parseSeconds = cpuSeconds(30, () => parseRobots(large).rulesFor('portolan'))
const parseMegabytesPerSecond = Number(((30 * large.length) / parseSeconds / 1e6).toFixed(1))

/** The worst we could think of: 500 KiB of rules, asked about a URL of 2,000 characters made for them. */
const longUrl = `/${'a'.repeat(2_000)}`
const hostile: Record<string, string> = {
  'one letter each': 'disallow:/*b\n',
  'stars between letters': `disallow:/${'*a'.repeat(500)}b\n`,
  'long tails': `disallow:/*b${'a'.repeat(1_000)}\n`,
  'long heads': `disallow:/*${'a'.repeat(1_000)}b\n`,
}
const worstMicros: Record<string, number> = {}
for (const [name, line] of Object.entries(hostile)) {
  const text = `user-agent:*\n${line.repeat(Math.floor((ROBOTS_BYTES_MAX - 20) / line.length))}`
  const rules = parseRobots(Buffer.from(text)).rulesFor('portolan')
  worstMicros[name] = Math.round((cpuSeconds(5, () => rules.decide(longUrl)) / 5) * 1e6)
}

const result = { bench: 'robots', seed: SEED, decisionsPerSecond, parseMegabytesPerSecond, worstMicros }
for (const [name, rate] of Object.entries(decisionsPerSecond)) console.log(`${rate} decisions/s with ${name}`)
console.log(`${parseMegabytesPerSecond} MB/s read and made into rules (${large.length} bytes, every line a rule)`)
for (const [name, micros] of Object.entries(worstMicros)) console.log(`${micros} µs per URL with 500 KiB of ${name}`)
console.log(JSON.stringify(result))
