// A host to whose record nobody knows how much was added is read whole, or not at all.

import { expect, test } from 'vitest'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { DiskHost } from './disk-host.ts'
import type { FrontierEntry } from './frontier.ts'
import { addendumKey, GuardedStore, hostKey } from './guarded-store.ts'
import { HostReader } from './host-reader.ts'
import { encodeAddendum, encodeRecord, type HostOnDisk } from './host-record.ts'
import { MemoryLineStore } from './memory-line-store.ts'

const HOST = 'h.example' as HostKey
const FACTS = { wasOffered: true, pages: 0, leastRestMs: 0, run: 1, restMs: 0, restUntilMs: 0, page: 1 }

function linesOf(number: number): { lines: []; front: FrontierEntry[]; tail: [] } {
  const url = `https://${HOST}/${number}` as CanonicalUrl
  const entry = { url, host: HOST, via: null, depth: 1, hops: 0, band: 0, isSeed: false, tries: 0, pauses: 0 }
  return { lines: [], front: [entry], tail: [] }
}

/** What is read of a host with so many addenda, after one key was lost: its URLs, null for no host, or what was complained of. */
async function read(addenda: number | null, lostKey?: string): Promise<unknown> {
  const lineStore = new MemoryLineStore()
  const store = new GuardedStore(lineStore)
  await store.open(true)
  const batch = store.batch()
  if (addenda !== null) batch.put(hostKey(HOST), encodeRecord(HOST, { ...FACTS, ...linesOf(0) }))
  for (let i = 0; i < (addenda ?? 0); i++) batch.put(addendumKey(HOST, i), encodeAddendum(HOST, linesOf(i + 1)))
  await store.write(batch)
  if (lostKey !== undefined) lineStore.values.delete(lostKey)
  let onDisk: HostOnDisk | null = null
  let complaint: unknown = null
  const reader = new HostReader({
    store,
    entriesAtOnce: 1,
    hasRecord: (_, found) => (onDisk = found),
    hasEntries: () => {},
    hasPage: () => {},
    onProgress: () => {},
    onFault: (fault) => (complaint = fault),
  })
  reader.wantRecord(new DiskHost(HOST), null)
  await reader.idle().catch(() => undefined)
  if (complaint !== null) return complaint
  const found = onDisk as HostOnDisk | null
  return found && [found.record, ...found.addenda].flatMap(({ front }) => front.map(({ url }) => url))
}

test.each([0, 1, 2, 7, 8, 9, 10, 39, 40, 41])(
  'with %i addenda it is found with all of them, in their order',
  async (addenda) => {
    const urls = Array.from({ length: addenda + 1 }, (_, i) => `https://${HOST}/${i}`)
    expect(await read(addenda)).toEqual(urls)
  },
)

test('one that is not there is not found', async () => {
  expect(await read(null)).toBeNull()
})

test.each([
  ['its record', hostKey(HOST)],
  ['the second addendum', addendumKey(HOST, 1)],
  ['the ninth, which is the last of a step', addendumKey(HOST, 8)],
  ['the eleventh', addendumKey(HOST, 10)],
])('%s is missing, and that is said', async (_, key) => {
  expect(await read(16, key)).toMatchObject({ code: 'LEDGER_CORRUPT' })
})
