// What is done to a store in a process of its own: measured, killed while it writes, opened again,
// read back after damage, run in two threads.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { Random } from '../../src/base/index.ts'
import { Load, numbered } from './load.ts'
import { openStore, type Operation, type Store, type StoreName } from './stores.ts'

export interface Job {
  readonly kind: 'measure' | 'write' | 'reopen' | 'mark' | 'verify' | 'threads' | 'thread'
  readonly store: StoreName
  readonly modules: string
  readonly path: string
  readonly keys: number
}

const SEED = 'bench-ledger-stores'
const TICK_MS = 100
const TICKS = 60
const FILL_OPERATIONS = 5_000
const MARK = 9
const MARK_BATCHES = 120
const MARKS_PER_BATCH = 1_000
const NUMBER_KEY = numbered(8, 0)

export async function runJob(job: Job): Promise<object> {
  switch (job.kind) {
    case 'measure':
      return measure(job)
    case 'write':
      return write(job)
    case 'reopen':
      return reopen(job)
    case 'mark':
      return mark(job)
    case 'verify':
      return verify(job)
    case 'threads':
      return threads(job)
    case 'thread':
      return thread(job)
  }
}

async function cpuMicroseconds(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

export function bytesUnder(path: string): number {
  let bytes = 0
  for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
    const found = statSync(join(path, name), { throwIfNoEntry: false })
    // Blocks, because lmdb's file may have holes.
    if (found?.isFile() === true) bytes += found.blocks * 512
  }
  return bytes
}

function residentMegabytes(): { anonymous: number; mapped: number } {
  const status = readFileSync('/proc/self/status', 'utf8')
  const of = (name: string): number => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
  return { anonymous: of('RssAnon'), mapped: of('RssFile') }
}

function round(value: number): number {
  return Number(value.toPrecision(3))
}

function quantile(sorted: readonly number[], share: number): number {
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] as number)
}

async function measure({ store: name, modules, path, keys }: Job): Promise<object> {
  const atStart = residentMegabytes()
  const store = await openStore(name, modules, path)
  const load = new Load(SEED, keys)
  // The load itself is drawn once more beside the store, so that its cost can be taken off.
  const beside = new Load(SEED, keys)
  const sampleEvery = Math.max(1, Math.round(keys / 400_000))
  const drawing = await cpuMicroseconds(async () => {
    for (let done = 0; done < 200_000; done += FILL_OPERATIONS) beside.entries(FILL_OPERATIONS, sampleEvery)
  })
  const started = performance.now()
  // 10^7 keys in batches of 5,000 would mostly wait for the disk.
  const fillOperations = Math.max(FILL_OPERATIONS, keys / 200)
  const filling = await cpuMicroseconds(async () => {
    for (let done = 0; done < keys; done += fillOperations)
      await store.commit(load.entries(fillOperations, sampleEvery))
  })
  const fillSeconds = (performance.now() - started) / 1_000

  const ticks: Record<string, object> = {}
  for (const operations of [1_000, 5_000]) ticks[operations] = await tickAway(store, load, operations)

  const fresh = Array.from({ length: 20 }, () => load.entries(FILL_OPERATIONS, 1e9))
  const putting = await cpuMicroseconds(() => commitAll(store, fresh))
  const gone = fresh.map((batch) => batch.map(({ key }) => ({ key, value: null })))
  const deleting = await cpuMicroseconds(() => commitAll(store, gone))

  const reads = name === 'framed-log' ? {} : await readAway(store, load)
  const bytesBefore = bytesUnder(path)
  const resident = residentMegabytes()
  const compacting = await cpuMicroseconds(() => store.compact(`${path}-compact`))
  const isCopied = name === 'lmdb'
  const bytesAfter = bytesUnder(isCopied ? `${path}-compact` : path)
  // Ticks put half and delete a third; host states and outbox are few.
  const live = keys + TICKS * 6_000 * (0.5 - 0.33)
  await store.close()
  return {
    fillMicrosecondsPerPut: round(filling / keys - drawing / 200_000),
    fillSeconds: round(fillSeconds),
    ticks,
    putMicroseconds: round(putting / 100_000),
    deleteMicroseconds: round(deleting / 100_000),
    ...reads,
    bytesPerEntry: round(bytesBefore / live),
    bytesPerEntryCompacted: round(bytesAfter / live),
    compactCpuSeconds: round(compacting / 1e6),
    residentMegabytes: {
      anonymous: resident.anonymous - atStart.anonymous,
      mapped: resident.mapped - atStart.mapped,
    },
  }
}

async function commitAll(store: Store, batches: readonly (readonly Operation[])[]): Promise<void> {
  for (const batch of batches) await store.commit(batch)
}

/** Ticks at their real pace; wall time of each commit, and CPU with what goes on behind. */
async function tickAway(store: Store, load: Load, operations: number): Promise<object> {
  const batches = Array.from({ length: TICKS }, () => load.tick(operations))
  const waits: number[] = []
  const spent = await cpuMicroseconds(async () => {
    for (const batch of batches) {
      const start = performance.now()
      await store.commit(batch)
      const took = performance.now() - start
      waits.push(took)
      await sleep(Math.max(0, TICK_MS - took))
    }
  })
  waits.sort((a, b) => a - b)
  return {
    p50Milliseconds: quantile(waits, 0.5),
    p99Milliseconds: quantile(waits, 0.99),
    microsecondsPerOperation: round(spent / batches.reduce((sum, batch) => sum + batch.length, 0)),
  }
}

async function readAway(store: Store, load: Load): Promise<object> {
  const asked = Array.from({ length: 500 }, () => load.waitingSample(64))
  let found = 0
  const getting = await cpuMicroseconds(async () => {
    for (const keys of asked) found += await store.getMany(keys)
  })
  if (found !== 500 * 64) throw new Error(`${500 * 64 - found} keys were not found`)
  const ranges = Array.from({ length: 2_000 }, () => Load.hostRange(load.randomHost()))
  let scanned = 0
  const waits: number[] = []
  const scanning = await cpuMicroseconds(async () => {
    for (const [from, to] of ranges) {
      const start = performance.now()
      scanned += (await store.scan(from, to, 64)).length
      waits.push(performance.now() - start)
    }
  })
  waits.sort((a, b) => a - b)
  return {
    getMicroseconds: round(getting / found),
    refillMicroseconds: round(scanning / ranges.length),
    refillEntries: round(scanned / ranges.length),
    refillP99Milliseconds: quantile(waits, 0.99),
  }
}

/** Writes ticks until it is killed, and says the number of each that was acknowledged. */
async function write({ store: name, modules, path, keys }: Job): Promise<object> {
  const store = await openStore(name, modules, path)
  const load = new Load(`${SEED}-again`, keys)
  for (let number = 1; ; number++) {
    const value = Buffer.alloc(8)
    value.writeBigUInt64LE(BigInt(number))
    await store.commit([...load.tick(5_000), { key: NUMBER_KEY, value }])
    process.stdout.write(`${number}\n`)
  }
}

async function reopen({ store: name, modules, path }: Job): Promise<object> {
  const start = performance.now()
  let store: Store | null = null
  const spent = await cpuMicroseconds(async () => {
    store = await openStore(name, modules, path)
  })
  const openMilliseconds = round(performance.now() - start)
  if (store === null || name === 'framed-log')
    return { openMilliseconds, openCpuMilliseconds: round(spent / 1e3), number: null }
  const opened: Store = store
  const [found] = await opened.scan(NUMBER_KEY, numbered(8, 1), 1)
  await opened.close()
  return {
    openMilliseconds,
    openCpuMilliseconds: round(spent / 1e3),
    number: Number(found?.value?.readBigUInt64LE() ?? 0),
  }
}

function markValue(number: number): Buffer {
  const random = new Random(number)
  return Buffer.from(`${number}-${random.next32().toString(36)}-/${'section/article/'.repeat(3)}${random.next32()}`)
}

/** A store of which every value is known; killed without closing, so that log and tables are both there. */
async function mark({ store: name, modules, path }: Job): Promise<object> {
  const store = await openStore(name, modules, path, 4 * 2 ** 20)
  for (let batch = 0; batch < MARK_BATCHES; batch++) {
    await store.commit(
      Array.from({ length: MARKS_PER_BATCH }, (_, i) => {
        // Entries of all batches lie between each other, as those of hosts do.
        const number = i * MARK_BATCHES + batch
        return { key: numbered(MARK, number), value: markValue(number) }
      }),
    )
  }
  await sleep(300)
  process.kill(process.pid, 'SIGKILL')
  return {}
}

async function verify({ store: name, modules, path }: Job): Promise<object> {
  let store: Store
  try {
    store = await openStore(name, modules, path, 4 * 2 ** 20)
  } catch (error) {
    return { outcome: 'refused to open', error: text(error) }
  }
  let found: Operation[]
  try {
    found = await store.scan(numbered(MARK, 0), numbered(MARK + 1, 0), 1e9)
  } catch (error) {
    return { outcome: 'error on reading', error: text(error) }
  }
  const perBatch = Array.from({ length: MARK_BATCHES }, () => 0)
  let wrong = 0
  for (const { key, value } of found) {
    const number = Number(key.readBigUInt64BE(1))
    const batch = number % MARK_BATCHES
    if (key[0] === MARK && value !== null && markValue(number).equals(value))
      perBatch[batch] = (perBatch[batch] ?? 0) + 1
    else wrong++
  }
  if (wrong > 0) return { outcome: 'SILENT: wrong value', wrong }
  const firstShort = perBatch.findIndex((count) => count < MARKS_PER_BATCH)
  if (firstShort === -1) return { outcome: 'whole' }
  const missing = MARK_BATCHES * MARKS_PER_BATCH - found.length
  const isTail = perBatch.slice(firstShort).every((count) => count === 0)
  return isTail
    ? { outcome: 'SILENT: last batches lost', batches: MARK_BATCHES - firstShort }
    : { outcome: 'SILENT: hole', missing }
}

function text(error: unknown): string {
  const { message, cause } = error as Error
  return `${message}${cause instanceof Error ? `: ${cause.message}` : ''}`.replaceAll(/\/\S+\//g, '').slice(0, 160)
}

/** One store per thread; then a thread is ended in the middle of writing and its store opened by another. */
async function threads(job: Job): Promise<object> {
  const start = async (path: string): Promise<Worker> =>
    new Worker(new URL('../ledger-stores.ts', import.meta.url), {
      argv: ['--job', JSON.stringify({ ...job, kind: 'thread', path })],
    })
  const ended = (worker: Worker): Promise<number> =>
    new Promise((resolve, reject) => {
      worker.on('exit', resolve)
      worker.on('error', reject)
    })
  const perOperation = async (count: number): Promise<number> => {
    const spent = await cpuMicroseconds(async () => {
      const workers = await Promise.all(Array.from({ length: count }, (_, i) => start(`${job.path}-${count}-${i}`)))
      await Promise.all(workers.map(ended))
    })
    return round(spent / (count * 100 * 2_000))
  }
  const one = await perOperation(1)
  const two = await perOperation(2)
  const cut = await start(`${job.path}-cut`)
  await sleep(700)
  await cut.terminate()
  const again = await start(`${job.path}-cut`)
  const afterCut = await ended(again).then(
    (code) => (code === 0 ? 'reopened and written' : `exit ${code}`),
    (error: unknown) => text(error),
  )
  return { microsecondsPerOperationOneThread: one, twoThreads: two, afterTerminatingAThread: afterCut }
}

async function thread({ store: name, modules, path }: Job): Promise<object> {
  const store = await openStore(name, modules, path)
  const load = new Load(SEED, 100_000)
  for (let i = 0; i < 100; i++) await store.commit(load.tick(2_000))
  await store.close()
  return {}
}
