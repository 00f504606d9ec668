// How a run is steered comes back as it was kept, or is refused by the name of its file.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { type KeptSteering, loadSteering, NOT_STEERED, storeSteering } from './kept-steering.ts'

function stateIn(): string {
  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  return dir
}

const KEPT: KeptSteering = {
  guard: 'one',
  isPaused: true,
  limits: { maxPages: 1_000, maxTime: '8h' },
  changed: { agent: { maxRate: null }, url: { block: ['a.test'] } },
  speeds: { 1: { ratePerSecond: 0.5, bytesPerSecond: null, connections: 3 } },
}

test('a crawl that was never steered is not; what is kept comes back', async () => {
  const dir = stateIn()
  expect(await loadSteering(dir)).toEqual(NOT_STEERED)
  await storeSteering(dir, KEPT)
  expect(await loadSteering(dir)).toEqual(KEPT)
})

test.for([
  '{',
  '[]',
  '{}',
  JSON.stringify({ ...KEPT, isPaused: 'yes' }),
  JSON.stringify({ ...KEPT, changed: { agent: 3 } }),
  JSON.stringify({ ...KEPT, speeds: { one: {} } }),
  JSON.stringify({ ...KEPT, speeds: { 1: { connections: 0 } } }),
  JSON.stringify({ ...KEPT, speeds: { 1: { ratePerSecond: -1 } } }),
  JSON.stringify({ ...KEPT, speeds: { 1: { knots: 7 } } }),
])('%s is damaged: the file is named, and what deleting it means', async (text) => {
  const dir = stateIn()
  writeFileSync(join(dir, 'state/steering.json'), text)
  await expect(loadSteering(dir)).rejects.toMatchObject({
    code: 'LEDGER_CORRUPT',
    message: expect.stringMatching(
      /state\/steering\.json is damaged; delete it, and the crawl goes on without a pause/,
    ),
  })
})
