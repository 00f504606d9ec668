// What was added to records and is gone is missed, whichever it is: a rescue tells which hosts have lost something.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ClassicLevel } from 'classic-level'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { FrontierEntry } from './frontier.ts'
import { addendumKey, GuardedStore, hostKey } from './guarded-store.ts'
import { encodeAddendum, encodeRecord } from './host-record.ts'
import { LevelStore } from './level-store.ts'
import { salvageFrontier } from './salvage.ts'

const HOST = 'h.example' as HostKey
const OTHER = 'o.example' as HostKey
const FACTS = { wasOffered: true, pages: 0, leastRestMs: 0, run: 1, restMs: 0, restUntilMs: 0, page: 1 }

let directory = ''

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'portolan-salvage-'))
})

afterEach(async () => {
  await rm(directory, { recursive: true })
})

function urlOf(host: HostKey, number: number): FrontierEntry {
  const url = `https://${host}/${number}` as CanonicalUrl
  return { url, host, via: null, depth: 1, hops: 0, band: 0, isSeed: false, tries: 0, pauses: 0 }
}

/** Two hosts with a URL in their records and one in each of three addenda; one value is gone. */
async function salvagedWithout(lostKey: string | null): Promise<{ found: string[]; damage: string; lost: string[] }> {
  const store = new GuardedStore(await LevelStore.open(directory))
  await store.open(true)
  const batch = store.batch()
  for (const host of [HOST, OTHER]) {
    const lines = (number: number) => ({ lines: [], front: [urlOf(host, number)], tail: [] })
    batch.put(hostKey(host), encodeRecord(host, { ...FACTS, ...lines(0) }))
    for (let i = 0; i < 3; i++) batch.put(addendumKey(host, i), encodeAddendum(host, lines(i + 1)))
  }
  const pages = [{ page: 1, band: 0, wasAtHand: false }]
  await store.writeCheckpoint(
    batch,
    JSON.stringify({ version: 3, batch: 1, run: 1, waiting: 8, hosts: 2, known: 0, nextBlock: 1, nextPage: 2, pages }),
  )
  await store.close()
  if (lostKey !== null) {
    const level = new ClassicLevel(directory)
    await level.del(lostKey)
    await level.close()
  }
  const found: string[] = []
  const { damage, hosts } = await salvageFrontier(directory, ({ url }) => void found.push(url))
  return { found, damage: damage.join('; '), lost: [...hosts.keys()] }
}

test('nothing is missing', async () => {
  const { found, damage, lost } = await salvagedWithout(null)
  expect(found).toHaveLength(8)
  expect(damage).toBe('')
  expect(lost).toEqual([])
})

test.each([
  ['a record', hostKey(HOST)],
  ['the first addendum', addendumKey(HOST, 0)],
  ['one in the middle', addendumKey(HOST, 1)],
])('%s is missing, and its host is named', async (_, key) => {
  const { found, damage, lost } = await salvagedWithout(key)
  expect(found).toHaveLength(7)
  expect(damage).toContain('something is missing that was stored of h.example')
  expect(lost).toEqual([HOST])
})

test('the last addendum is missing, and there are fewer than should be', async () => {
  const { damage } = await salvagedWithout(addendumKey(HOST, 2))
  expect(damage).toBe('8 URLs should wait, and 7 do')
})
