// failures.jsonl has exactly the lines of the verdicts that stand, whatever a crash leaves of taking some back.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { FailureRecord } from '../store/index.ts'
import { FailuresFile, type FailuresState } from './failures-file.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-failures-'))
  mkdirSync(join(dir, 'state'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
})

const record = (url: string, reason = 'DNS_NO_NAME'): FailureRecord => ({
  url,
  kind: 'failed',
  reason,
  detail: '',
  depth: 1,
  via: null,
  at: '2026-01-01T00:00:00.000Z',
})

const urls = (): string[] =>
  readFileSync(join(dir, 'failures.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as FailureRecord).url)

/** Five lines, committed. */
async function fiveLines(): Promise<{ file: FailuresFile; state: FailuresState }> {
  const file = await FailuresFile.open(dir, null)
  for (const name of ['a', 'b', 'c', 'd', 'e']) file.append(record(name, name < 'c' ? 'robots' : 'DNS_NO_NAME'))
  await file.sync()
  return { file, state: file.state() }
}

test('what is taken back is out of the file once its batch is committed, and the file goes on', async () => {
  const { file } = await fiveLines()
  const taken = await file.takeBack(({ reason }) => reason === 'robots', 10)
  expect(taken.map(({ url }) => url)).toEqual(['a', 'b'])
  await file.sync()
  const state = file.state()
  await file.committed(state)
  file.append(record('f'))
  await file.close()
  expect(urls()).toEqual(['c', 'd', 'e', 'f'])
  expect(existsSync(join(dir, 'state/failures-1.jsonl'))).toBe(false)
})

test('no more is taken back than asked for, and nothing wanted changes nothing', async () => {
  const { file, state } = await fiveLines()
  expect(await file.takeBack(() => false, 10)).toEqual([])
  expect(file.state()).toEqual(state)
  expect(await file.takeBack(() => true, 2)).toHaveLength(2)
  await expect(file.takeBack(() => true, 2)).rejects.toThrow('twice in one batch')
  await file.close()
})

test('a crash before the batch is committed: nothing was taken back', async () => {
  const { file, state } = await fiveLines()
  await file.takeBack(() => true, 3)
  await file.close()
  const again = await FailuresFile.open(dir, state)
  expect(urls()).toEqual(['a', 'b', 'c', 'd', 'e'])
  expect(existsSync(join(dir, 'state/failures-1.jsonl'))).toBe(false)
  expect(await again.takeBack(() => true, 1)).toHaveLength(1)
  await again.close()
})

test('a crash after the batch is committed, before the new edition has its name: it gets it on opening', async () => {
  const { file } = await fiveLines()
  await file.takeBack(({ url }) => url !== 'c', 10)
  await file.sync()
  const state = file.state()
  file.append(record('never committed'))
  await file.close()
  const again = await FailuresFile.open(dir, state)
  expect(urls()).toEqual(['c'])
  expect(again.state()).toEqual(state)
  await again.close()
})

test('a crash after all of it: opening changes nothing', async () => {
  const { file } = await fiveLines()
  await file.takeBack(() => true, 4)
  await file.sync()
  const state = file.state()
  await file.committed(state)
  await file.close()
  for (let times = 0; times < 2; times++) await (await FailuresFile.open(dir, state)).close()
  expect(urls()).toEqual(['e'])
})
