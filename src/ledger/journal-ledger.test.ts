// The journal keeps the law of ledgers, cuts what a crash left unfinished, and refuses what it cannot trust.

import { appendFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Random } from '../base/index.ts'
import { emptyBatch } from './batch-codec.ts'
import { journalExists, JournalLedger, readJournal } from './journal-ledger.ts'
import { describeLedger } from './ledger.conformance.ts'
import { MemoryLedger } from './memory-ledger.ts'

const identity = { name: 'test', key: '00'.repeat(8), startedAtMs: 5, agents: 1 }

function openAt(path: string, create = () => identity): Promise<JournalLedger> {
  return JournalLedger.open({ path, random: new Random(1), create })
}

async function temporaryPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-ledger-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'ledger.log')
}

describeLedger('journal', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-ledger-'))
  const path = join(folder, 'ledger.log')
  let ledger = await openAt(path)
  return {
    ledger,
    async reopen() {
      await ledger.close()
      ledger = await openAt(path)
      return ledger
    },
    async cleanUp() {
      await ledger.close()
      await rm(folder, { recursive: true })
    },
  }
})

describeLedger('memory', async () => {
  const ledger = new MemoryLedger(identity)
  return { ledger, reopen: async () => ledger, cleanUp: async () => {} }
})

async function withBatches(count: number): Promise<string> {
  const path = await temporaryPath()
  const ledger = await openAt(path)
  for (let i = 0; i < count; i++) await ledger.commit({ ...emptyBatch(), ranMs: i })
  await ledger.close()
  return path
}

test('the identity of a crawl is made once and never again', async () => {
  const path = await withBatches(1)
  const ledger = await openAt(path, () => expect.unreachable('there is one already'))
  expect(ledger.identity).toEqual(identity)
  await ledger.close()
})

test('a batch cut off by a crash at any byte is gone, and all before it are there', async () => {
  const whole = await withBatches(2)
  const { length: fullLength } = await readFile(whole)
  const two = await withBatches(1)
  const { length: keptLength } = await readFile(two)
  for (let length = keptLength; length < fullLength; length += 7) {
    const path = await withBatches(2)
    await truncate(path, length)
    const ledger = await openAt(path)
    const read = await Array.fromAsync(ledger.history())
    expect(read.map((one) => one.ranMs)).toEqual([0])
    expect(ledger.tornTailBytes).toBe(length - keptLength)
    await ledger.close()
  }
})

test('a flipped byte in an early batch is a fault that names the file, not a crawl with a hole', async () => {
  const path = await withBatches(3)
  const bytes = await readFile(path)
  const middle = Math.floor(bytes.length / 2)
  bytes[middle] = (bytes[middle] ?? 0) ^ 0xff
  await writeFile(path, bytes)
  await expect(openAt(path)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT', message: expect.stringContaining(path) })
})

test('a journal in use can be read by others without touching it', async () => {
  const path = await temporaryPath()
  const ledger = await openAt(path)
  await ledger.commit({ ...emptyBatch(), ranMs: 1 })
  await appendFile(path, 'half a frame')
  const before = await readFile(path)
  const read = await Array.fromAsync(readJournal(path))
  expect(read.map((one) => one.ranMs)).toEqual([1])
  expect(await readFile(path)).toEqual(before)
  await ledger.close()
})

test('a directory without a crawl has no journal', async () => {
  expect(await journalExists(join(tmpdir(), 'no-such-portolan', 'ledger.log'))).toBe(false)
})
