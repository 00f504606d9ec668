// Runs every bench, one after the other, each in a process of its own; in the end, all figures in one table.
//
//   npm run bench                            all
//   npm run bench -- url                     those whose name contains a word
//   npm run bench -- url --json FILE         the figures as JSON, too
//
// A bench speaks to people in lines, and to us in lines of JSON: `{"bench": …}` with numbers in it, however deep.

import { spawn } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, totalmem } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals: words } = parseArgs({ allowPositionals: true, options: { json: { type: 'string' } } })
const folder = fileURLToPath(new URL('.', import.meta.url))
const NOT_BENCHES = new Set(['all.ts', 'corpus.ts', 'mean-ratio.ts', 'synthetic-web.ts'])
/** These take minutes, and have commands of their own. */
const LONG = new Set([
  'agents.ts',
  'catalogue.ts',
  'cluster-simulator.ts',
  'crash-equivalence.ts',
  'engine.ts',
  'memory-bound.ts',
  'mixed-web.ts',
  'nasty-rounds.ts',
  'pairs.ts',
  'peers.ts',
  'scaling.ts',
  'slow-hosts.ts',
])
/** Benches that speak JSON only when asked. */
const ASKED: Readonly<Record<string, readonly string[]>> = { 'crawl.ts': ['--json'] }

const LAST_WORDS_MS = 1_000

interface Ran {
  readonly bench: string
  readonly seconds: number
  readonly exitCode: number
  readonly results: readonly unknown[]
}

async function run(file: string): Promise<Ran> {
  const start = performance.now()
  const child = spawn(process.execPath, [`${folder}${file}`, ...(ASKED[file] ?? [])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const results: unknown[] = []
  const lines = createInterface({ input: child.stdout })
  lines.on('line', (line) => {
    const result = parsed(line)
    if (result === null) console.log(line)
    else results.push(result)
  })
  const exitCode = await new Promise<number>((resolve) => {
    child.on('close', (code) => resolve(code ?? 1))
    // A server that a failed bench left behind holds its output open; we do not wait for that.
    child.on('exit', (code) => setTimeout(() => resolve(code ?? 1), LAST_WORDS_MS))
  })
  child.stdout.destroy()
  return { bench: file.slice(0, -3), seconds: Math.round((performance.now() - start) / 100) / 10, exitCode, results }
}

/** Null for what is no line of JSON. */
function parsed(line: string): object | null {
  if (!line.startsWith('{')) return null
  try {
    return JSON.parse(line) as object
  } catch {
    return null
  }
}

/** Every number of a result, by the way to it; an element of a list goes by its name, if it has one. */
function* numbersOf(value: unknown, way: readonly string[]): Generator<readonly [string, number]> {
  if (typeof value === 'number') yield [way.join(' '), value]
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    const name = Array.isArray(value) ? ((inner as { name?: string } | null)?.name ?? key) : key
    yield* numbersOf(inner, [...way, name])
  }
}

const files = readdirSync(folder).filter((file) => {
  if (!file.endsWith('.ts') || NOT_BENCHES.has(file)) return false
  return words.length === 0 ? !LONG.has(file) : words.some((word) => file.includes(word))
})
const ran: Ran[] = []
for (const file of files.sort()) {
  console.log(`\n== ${file}`)
  const one = await run(file)
  if (one.exitCode !== 0) process.exitCode = 1
  ran.push(one)
}

console.log('\n== figures')
const rows = ran.flatMap(({ bench, results }) =>
  results.flatMap((result) => [...numbersOf(result, [])].map(([name, value]) => ({ bench, name, value }))),
)
const width = Math.max(0, ...rows.map((row) => row.name.length))
for (const { bench, name, value } of rows) {
  console.log(`${bench.padEnd(16)} ${name.padEnd(width)} ${String(Number(value.toPrecision(6))).padStart(12)}`)
}
for (const { bench, seconds, exitCode, results } of ran) {
  if (exitCode !== 0) console.log(`${bench} ended with ${exitCode}: a bar was missed, or it could not run`)
  else if (results.length === 0) console.log(`${bench} gave no figures as JSON (${seconds} s)`)
}
if (values.json !== undefined) {
  const about = {
    bench: 'all',
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    load: loadavg()[0],
  }
  writeFileSync(values.json, `${JSON.stringify({ ...about, benches: ran }, null, 1)}\n`)
  console.log(`wrote ${values.json}`)
}
