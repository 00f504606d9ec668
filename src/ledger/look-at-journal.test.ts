// Looking at a journal in use sees what is committed, touches nothing, and does not mind what the writer does meanwhile.

import { appendFile, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commitSamples, journalOf, openJournal, temporaryDirectory, upTo } from '../../test/journal-samples.ts'
import { journalBegun, journalStart, lookAtJournal, lookAtLastBatch, lookAtRecords } from './look-at-journal.ts'

async function numbersSeen(directory: string, after = 0): Promise<number[]> {
  const numbers: number[] = []
  for await (const { number, batch } of lookAtJournal(directory, after)) {
    expect(batch.totals).toBe(number)
    numbers.push(number)
  }
  return numbers
}

async function pathsOf(directory: string): Promise<string[]> {
  return (await readdir(directory)).sort().map((name) => join(directory, name))
}

test('a journal in use can be read by others without touching it, a batch on its way not', async () => {
  const directory = await journalOf(8)
  const journal = await openJournal(directory)
  await commitSamples(journal, 3)
  const current = (await pathsOf(directory)).at(-1) ?? ''
  await appendFile(current, 'half a frame')
  const before = await readFile(current)
  expect(await numbersSeen(directory)).toEqual(upTo(11))
  for (let after = 0; after <= 12; after++) {
    expect(await numbersSeen(directory, after)).toEqual(upTo(11).slice(after))
  }
  expect(await readFile(current)).toEqual(before)
  await journal.close()
})

test('segments forgotten before the reading begins are not missed', async () => {
  const directory = await journalOf(11)
  const journal = await openJournal(directory)
  await journal.forget(7)
  expect(await numbersSeen(directory)).toEqual(upTo(11, journal.firstNumber))
  expect(journal.firstNumber).toBe(7)
  await journal.close()
})

test('segments forgotten under the reader are jumped, those it is reading are read to their end', async () => {
  const directory = await journalOf(11)
  const journal = await openJournal(directory)
  const seen: number[] = []
  for await (const { number } of lookAtJournal(directory)) {
    seen.push(number)
    if (number === 2) await journal.forget(9)
  }
  expect(seen).toEqual([1, 2, 3, 10, 11])
  await journal.close()
})

test('a reader that finds every segment it knew gone goes on with those that came after', async () => {
  const directory = await journalOf(5)
  const journal = await openJournal(directory)
  const seen: number[] = []
  for await (const { number } of lookAtJournal(directory)) {
    seen.push(number)
    if (number !== 2) continue
    await commitSamples(journal, 6)
    await journal.forget(11)
  }
  expect(seen).toEqual([1, 2, 3, 10, 11])
  await journal.close()
})

test('a writer that goes on to a new segment under the reader does not disturb it', async () => {
  const directory = await journalOf(5)
  const journal = await openJournal(directory)
  const seen: number[] = []
  for await (const { number } of lookAtJournal(directory)) {
    seen.push(number)
    if (number === 4) await commitSamples(journal, 6)
  }
  expect(seen).toEqual(upTo(5))
  await journal.close()
})

test('batches missing in the middle for any other reason are a fault, not a jump', async () => {
  const gone = await journalOf(11)
  await rm((await pathsOf(gone))[1] ?? '')
  await expect(numbersSeen(gone)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })

  const spoilt = await journalOf(11)
  const path = (await pathsOf(spoilt))[1] ?? ''
  const bytes = await readFile(path)
  for (const at of [bytes.length - 100, 300]) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 1
    await writeFile(path, flipped)
    await expect(numbersSeen(spoilt), `flipped ${at}`).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  }
  await truncate(path, 400)
  await expect(numbersSeen(spoilt)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
})

test('a directory without a crawl has no journal, one in which a crawl began has one', async () => {
  const directory = await temporaryDirectory()
  expect(await journalBegun(directory)).toBe(false)
  expect(await numbersSeen(directory)).toEqual([])
  const journal = await openJournal(directory)
  expect(await journalBegun(directory)).toBe(true)
  expect(await numbersSeen(directory)).toEqual([])
  await journal.close()
})

test('the last batch alone is the last of all, over segments and what was forgotten', async () => {
  expect(await lookAtLastBatch(await temporaryDirectory())).toBe(null)
  const directory = await journalOf(11)
  const journal = await openJournal(directory)
  await journal.forget(7)
  await commitSamples(journal, 1)
  const last = await lookAtLastBatch(directory)
  expect(last?.number).toBe(12)
  expect(last?.batch.totals).toBe(12)
  await journal.close()
})

test('who looks again and again with a place has every batch once, over ends of segments, half frames and forgotten ones', async () => {
  const directory = await journalOf(2)
  const place = journalStart()
  const seen: number[] = []
  const look = async (): Promise<number> => {
    const from = { ...place }
    for await (const { number } of lookAtRecords(directory, seen.at(-1) ?? 0, place)) seen.push(number)
    return place.segment === from.segment ? place.at - from.at : place.at
  }
  expect(await look()).toBeGreaterThan(0)
  for (const more of [1, 0, 2, 5, 1]) {
    const journal = await openJournal(directory)
    await commitSamples(journal, more)
    const read = await look()
    expect(read > 0).toBe(more > 0)
    await journal.close()
    // A process is killed in the middle of a frame; the next one cuts it off.
    await appendFile((await pathsOf(directory)).at(-1) ?? '', 'half a frame')
    expect(await look()).toBe(0)
  }
  expect(seen).toEqual(upTo(11))
  const journal = await openJournal(directory)
  await commitSamples(journal, 4)
  await journal.forget(14)
  await look()
  expect(seen.at(-1)).toBe(15)
  expect(new Set(seen).size).toBe(seen.length)
  await journal.close()
})
