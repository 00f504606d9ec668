// What one agent has for another is counted until the other has it in a batch of its own, and not longer.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Random } from '../base/index.ts'
import { type ExchangeState, Owners } from '../exchange/index.ts'
import type { FrontierEntry } from '../frontier/index.ts'
import { emptyBatch, type LedgerBatch, lookAtLastBatch, SegmentedJournal } from '../ledger/index.ts'
import { type CanonicalUrl, Fingerprinter, hostKeyOf, slotOf } from '../url/index.ts'
import { keyOf } from './crawl-files.ts'
import { linksOnTheirWay } from './links-on-their-way.ts'

const AGENTS = 3
const IDENTITY = { name: 'test', key: '0011223344556677', startedAtMs: 0 }

/** A link to a host that this agent owns. */
function linkTo(agent: number, isSeed = false): FrontierEntry {
  const owners = new Owners(0, AGENTS)
  const fingerprinter = new Fingerprinter(keyOf(IDENTITY))
  for (let host = 0; ; host++) {
    const url = `http://h${host}.test/` as CanonicalUrl
    fingerprinter.compute(url)
    if (owners.ofSlot(slotOf(fingerprinter.high)) !== agent) continue
    return { url, host: hostKeyOf(url), via: null, depth: 0, isSeed, band: 0, hops: 0, tries: 0, pauses: 0 }
  }
}

function batch(exchange: ExchangeState, abroad: FrontierEntry[] = []): LedgerBatch {
  return { ...emptyBatch(), abroad, files: { exchange } }
}

/** Counts what is on its way between agents with these batches. */
async function count(...agents: readonly LedgerBatch[][]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-on-their-way-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const ends = []
  for (const [agent, batches] of agents.entries()) {
    const directory = join(folder, String(agent))
    const journal = await SegmentedJournal.open({ directory, random: new Random('journal'), create: () => IDENTITY })
    for (const one of batches) await journal.commit(one)
    await journal.close()
    ends.push({ journal: directory, last: await lookAtLastBatch(directory) })
  }
  return await linksOnTheirWay(ends)
}

const nothing = (holds = [0, 0, 0]): LedgerBatch => batch({ settled: 0, holds })

test('a link that its owner does not hold is on its way, whoever else holds what', async () => {
  const found = batch({ settled: 0, holds: [0, 0, 0] }, [linkTo(1), linkTo(1), linkTo(2)])
  expect(await count([found], [nothing()], [nothing()])).toBe(3)
  expect(await count([found], [nothing([1, 0, 0])], [nothing()])).toBe(1)
  expect(await count([found], [nothing()], [nothing([1, 0, 0])])).toBe(2)
  expect(await count([found], [nothing([1, 0, 0])], [nothing([1, 0, 0])])).toBe(0)
})

test('what is settled is not looked at; what came after it is', async () => {
  const settled = batch({ settled: 1, holds: [0, 0, 0] }, [linkTo(2)])
  expect(await count([batch({ settled: 0, holds: [0, 0, 0] }, [linkTo(1)]), settled], [nothing()], [nothing()])).toBe(1)
})

test('a seed is on its way until all have heard of it; an agent that has no batch holds nothing', async () => {
  const found = batch({ settled: 0, holds: [0, 0, 0] }, [linkTo(0, true)])
  expect(await count([found], [nothing([1, 0, 0])], [])).toBe(1)
  expect(await count([found], [nothing([1, 0, 0])], [nothing([1, 0, 0])])).toBe(0)
})

test('one agent has nobody to send to', async () => {
  expect(await count([nothing()])).toBe(0)
})
