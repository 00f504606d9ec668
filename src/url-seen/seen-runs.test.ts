// How the memory for filters is shared among the runs, written, merged or opened again.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { SortedRun } from '../disk/index.ts'
import { type NamedRun, SeenRuns } from './seen-runs.ts'

const parent = mkdtempSync(join(tmpdir(), 'portolan-seen-runs-'))
let made = 0
let open: SeenRuns[] = []

afterEach(() => {
  for (const runs of open) runs.close()
  open = []
})
afterAll(() => rmSync(parent, { recursive: true }))

async function openRuns(
  filterBudget: number,
  runs: readonly NamedRun[] = [],
  directory = join(parent, String(++made)),
): Promise<SeenRuns> {
  const opened = await SeenRuns.open({ directory, filterBudget, runs, runsMade: runs.length })
  open.push(opened)
  return opened
}

/** Writes keys from..to of one list as a run, of a set of `to` URLs. */
function append(runs: SeenRuns, from: number, to: number): void {
  const steps = runs.append(to - from, to, function* (add) {
    for (let i = from; i < to; i++) add(i, i, 1)
    yield to - from
  })
  for (const step of steps) expect(step).toBeDefined()
}

const bytesABlock = (run: SortedRun): number => run.filterBytes / run.blocks
const filterBytes = (runs: SeenRuns): number => runs.all.reduce((sum, run) => sum + run.filterBytes, 0)

test('a run that is alone has an even share, and at most 128 bytes a block', async () => {
  const [little, much] = [await openRuns(13_333), await openRuns(10_000_000)]
  for (const runs of [little, much]) append(runs, 0, 30_000)
  expect(little.all.map(bytesABlock)).toEqual([36])
  expect(much.all.map(bytesABlock)).toEqual([128])
})

test('small young runs have longer filters than a large old one, as long as the budget has room', async () => {
  const budget = 16_000
  const runs = await openRuns(budget)
  append(runs, 0, 30_000)
  for (let i = 0; i < 20; i++) append(runs, 30_000 + 1_000 * i, 31_000 + 1_000 * i)
  const [old = 0, ...young] = runs.all.map(bytesABlock)
  expect(old).toBe(44)
  expect(young[0]).toBeGreaterThan(2 * old)
  // Each takes a part of what is left. At the end an even share is more than that, and less than the first had.
  expect(young).toEqual(young.toSorted((a, b) => b - a))
  expect(young.at(-1)).toBeLessThan(old)
})

test('runs opened again stay within the budget together, however many there are', async () => {
  const directory = join(parent, String(++made))
  const runs = await openRuns(10_000_000, [], directory)
  for (const [from, to] of [
    [0, 60_000],
    [60_000, 80_000],
    [80_000, 82_000],
    [82_000, 83_000],
    [83_000, 83_100],
  ] as const)
    append(runs, from, to)
  for (const budget of [1_000, 12_000, 15_000, 40_000, 50_000, 70_000, 200_000]) {
    const again = await openRuns(budget, runs.names(), directory)
    expect(filterBytes(again)).toBeLessThanOrEqual(budget)
    const shares = again.all.map(bytesABlock)
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
  }
})

test('a merged run has a filter for the URLs it can hold, not for each time they were met', async () => {
  const runs = await openRuns(26_667)
  append(runs, 0, 30_000)
  append(runs, 0, 30_000)
  for (const step of runs.merge(0, 30_000)) expect(step).toBeDefined()
  expect(runs.all.map((run) => run.keys)).toEqual([30_000])
  expect(runs.all.map(bytesABlock)).toEqual([72])
})
