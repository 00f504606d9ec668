import { appendFileSync, readFileSync } from 'node:fs'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { LineLog, type Numbered, readLog } from './line-log.ts'

async function pathOf(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'portolan-log-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
  return join(dir, 'events.jsonl')
}

async function fill(path: string, count: number, linesMax: number): Promise<void> {
  const log = await LineLog.open(path, linesMax)
  for (let i = 0; i < count; i++) void log.append((number) => ({ number }), false)
  await log.close()
}

const numbersOf = (items: readonly Numbered[]): number[] => items.map(({ number }) => number)

test('numbers go on over runs; the last half of the bound at least is kept, and never more than the bound', async () => {
  const path = await pathOf()
  let written = 0
  for (const count of [3, 4, 1, 9, 2]) {
    await fill(path, count, 10)
    written += count
    const { items, total } = await readLog(path, undefined, 100)
    expect(items[0]?.number).toBe(written)
    expect(total).toBeGreaterThanOrEqual(Math.min(written, 5))
    expect(total).toBeLessThanOrEqual(10)
    expect(numbersOf(items)).toEqual(Array.from({ length: total }, (_, i) => written - i))
  }
})

test('in parts, the newest first, until there is nothing more', async () => {
  const path = await pathOf()
  await fill(path, 8, 100)
  const seen: number[] = []
  let after: string | undefined
  for (let parts = 1; ; parts++) {
    const { items, next } = await readLog(path, after, 3)
    seen.push(...numbersOf(items))
    if (next === null) {
      expect(parts).toBe(3)
      break
    }
    after = next
  }
  expect(seen).toEqual([8, 7, 6, 5, 4, 3, 2, 1])
})

test('a line that a crash has torn is dropped, and the next stands on its own', async () => {
  const path = await pathOf()
  await fill(path, 2, 100)
  appendFileSync(path, '{"number":3,"tex')
  await fill(path, 1, 100)
  expect(numbersOf((await readLog(path, undefined, 10)).items)).toEqual([3, 2, 1])
  expect(readFileSync(path, 'utf8').endsWith('\n')).toBe(true)
})

test('what a full disk has cut short is not glued to what comes when there is room again', async () => {
  const path = await pathOf()
  const log = await LineLog.open<Numbered>(path, 100)
  const probe = await open(path, 'r')
  const handles = Object.getPrototypeOf(probe) as FileHandle
  await probe.close()
  // Half a line, and no room for the rest.
  const full = vi.spyOn(handles, 'appendFile').mockImplementationOnce(async function (this: FileHandle, data) {
    await this.writeFile(String(data).slice(0, 5))
    throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
  })
  onTestFinished(() => full.mockRestore())
  await expect(log.append((number) => ({ number }), true).written).rejects.toMatchObject({ code: 'DISK_FULL' })
  await log.append((number) => ({ number }), true).written
  await log.close()
  expect(numbersOf((await readLog(path, undefined, 10)).items)).toEqual([2])
})

test('where nothing was written there is nothing', async () => {
  expect(await readLog(await pathOf(), undefined, 10)).toEqual({ items: [], next: null, total: 0 })
})
