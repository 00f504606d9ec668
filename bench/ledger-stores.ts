// Which embedded store should hold the ledger: what do a synced batch, a look-up and a refill cost, how
// large do the files become, how long does opening take after a kill, and what becomes of flipped bytes?
//
//   mkdir stores && cd stores && npm install --ignore-scripts classic-level rocksdb-native lmdb
//   node bench/ledger-stores.ts --modules stores [--keys 1000000,10000000] [--stores classic-level,lmdb]
//                               [--skip damage,threads] [--out FILE]
//
// Without --modules only our own log is measured, as append and sync without look-up. Every figure comes
// from a process of its own; µs are CPU time of the whole process, threads of the store included, from a
// fixed seed. --out adds to what the file holds. 10^7 keys need 4 GB of disk and minutes per store.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  closeSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Random } from '../src/base/index.ts'
import { type Job, runJob } from './ledger-stores/jobs.ts'
import { STORE_NAMES, type StoreName } from './ledger-stores/stores.ts'

const TRIALS = 30
const KILL_AFTER_MS = 3_000
const SELF = fileURLToPath(import.meta.url)

/** Files whose bytes are flipped, by what they are for. */
const FILE_KINDS: readonly { readonly kind: string; readonly pattern: RegExp }[] = [
  { kind: 'log', pattern: /\.log$/ },
  { kind: 'table', pattern: /\.(ldb|sst)$/ },
  { kind: 'manifest', pattern: /^MANIFEST/ },
  { kind: 'data', pattern: /^data\.mdb$/ },
]

function inProcess(job: Job): Record<string, unknown> {
  const { stdout, stderr, signal } = spawnSync(process.execPath, [SELF, '--job', JSON.stringify(job)], {
    encoding: 'utf8',
  })
  const line = stdout.trim().split('\n').at(-1) ?? ''
  if (line.startsWith('{')) return JSON.parse(line) as Record<string, unknown>
  return { outcome: `process died: ${signal ?? ''}`, error: stderr.trim().slice(0, 300) }
}

/** Kills a process that writes, then opens what it left. */
async function killAndReopen(job: Job): Promise<object> {
  const child = spawn(process.execPath, [SELF, '--job', JSON.stringify({ ...job, kind: 'write' })], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (said += chunk))
  await once(child.stdout, 'data')
  setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS)
  await once(child, 'close')
  const acknowledged = Number(said.trim().split('\n').at(-1))
  const after = inProcess({ ...job, kind: 'reopen' })
  const isKept = after['number'] === null || Number(after['number']) >= acknowledged
  return { ...after, acknowledged, isKept }
}

function damage(job: Job): object {
  const marked = `${job.path}-marked`
  const damaged = `${job.path}-damaged`
  inProcess({ ...job, kind: 'mark', path: marked })
  const random = new Random('bench-ledger-stores-damage')
  const results: Record<string, Record<string, number>> = {}
  const errors = new Set<string>()
  for (const { kind, pattern } of FILE_KINDS) {
    const files = readdirSync(marked).filter((name) => pattern.test(name) && statSync(join(marked, name)).size > 0)
    if (files.length === 0) continue
    const outcomes: Record<string, number> = {}
    for (let i = 0; i < TRIALS; i++) {
      rmSync(damaged, { recursive: true, force: true })
      cpSync(marked, damaged, { recursive: true })
      // The newest log is the one that will be replayed.
      const name = kind === 'log' ? (files.sort().at(-1) as string) : random.pick(files)
      flipByte(join(damaged, name), random)
      const { outcome, error } = inProcess({ ...job, kind: 'verify', path: damaged })
      outcomes[String(outcome)] = (outcomes[String(outcome)] ?? 0) + 1
      if (typeof error === 'string') errors.add(error.replaceAll(/\d{4,}/g, 'N'))
    }
    results[kind] = outcomes
  }
  return { trials: TRIALS, results, errors: [...errors].slice(0, 5) }
}

function flipByte(path: string, random: Random): void {
  const file = openSync(path, 'r+')
  const at = random.below(statSync(path).size)
  const byte = Buffer.alloc(1)
  readSync(file, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 0xff
  writeSync(file, byte, 0, 1, at)
  closeSync(file)
}

interface Row {
  readonly store: string
  readonly keys: number | null
}

/** Keeps what other runs of the same sitting measured. */
function save(path: string, rows: readonly Row[]): void {
  const old = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { rows: Row[] }).rows : []
  const kept = old.filter((one) => !rows.some((row) => row.store === one.store && row.keys === one.keys))
  const sitting = { bench: 'ledger-stores', node: process.version, rows: [...kept, ...rows] }
  writeFileSync(path, `${JSON.stringify(sitting, null, 2)}\n`)
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      job: { type: 'string' },
      modules: { type: 'string' },
      keys: { type: 'string', default: '1000000' },
      stores: { type: 'string' },
      skip: { type: 'string', default: '' },
      out: { type: 'string' },
    },
  })
  if (values.job !== undefined) {
    console.log(JSON.stringify(await runJob(JSON.parse(values.job) as Job)))
    return
  }
  const modules = resolve(values.modules ?? '.')
  const chosen = values.modules === undefined ? ['framed-log'] : (values.stores?.split(',') ?? STORE_NAMES)
  const skipped = new Set(values.skip.split(','))
  const rows: Row[] = []
  const add = (row: Row): void => {
    rows.push(row)
    console.log(JSON.stringify(row))
    if (values.out !== undefined) save(values.out, rows)
  }
  for (const store of STORE_NAMES.filter((name) => chosen.includes(name))) {
    const dir = mkdtempSync(join(tmpdir(), 'portolan-bench-ledger-'))
    const job = (kind: Job['kind'], keys: number, name: string): Job => ({
      kind,
      store: store satisfies StoreName,
      modules,
      path: join(dir, name),
      keys,
    })
    try {
      if (!skipped.has('damage')) add({ store, keys: null, damage: damage(job('mark', 0, 'damage')) } as Row)
      if (!skipped.has('threads')) {
        const found = inProcess(job('threads', 0, 'threads'))
        add({ store: `${store}, threads`, keys: null, ...found })
      }
      for (const keys of values.keys.split(',').map(Number)) {
        const measured = inProcess(job('measure', keys, `keys-${keys}`))
        const afterKill = await killAndReopen(job('write', keys, `keys-${keys}`))
        add({ store, keys, ...measured, afterKill } as Row)
        rmSync(join(dir, `keys-${keys}`), { recursive: true, force: true })
      }
    } finally {
      rmSync(dir, { recursive: true, force: true })
    }
  }
}

await main()
