// One content has one original among all agents; what its owner tells of it is durable, and what the dead held is free.

import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { MemoryContentSeen, type Original } from '../content-seen/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { Owners } from './owners.ts'
import type { PeerMessage } from './peer-message.ts'
import { SharedContents } from './shared-contents.ts'

const AGENTS = 3
const ORIGINAL: Original = { url: 'http://a.test/' as CanonicalUrl, fetchedAtMs: 5, payloadDigest: null }

/** A digest that an agent owns. */
function digestOf(owner: number): Buffer {
  const owners = new Owners(0, AGENTS)
  const digest = Buffer.alloc(32, 7)
  for (let slot = 0; ; slot++) {
    digest.writeUInt16BE(slot)
    if (owners.ofDigest(digest) === owner) return digest
  }
}

const OWN = digestOf(0)
const FOREIGN = digestOf(1)
const noteOf = (digest: Buffer, original = ORIGINAL): OriginalNote => ({ digest: digest.toString('hex'), ...original })

interface Stand {
  readonly contents: SharedContents
  readonly said: { readonly agent: number; readonly message: PeerMessage }[]
  readonly noted: OriginalNote[]
  readonly written: OriginalNote[]
  readonly commit: () => void
}

/** Agent 0 of three. */
function stand(): Stand {
  const said: Stand['said'] = []
  const noted: OriginalNote[] = []
  const written: OriginalNote[] = []
  let waiting: (() => void)[] = []
  const contents = new SharedContents({
    owners: new Owners(0, AGENTS),
    own: new MemoryContentSeen(),
    write: (note) => written.push(note) - 1,
    note: (note) => void noted.push(note),
    send: (agent, message) => void said.push({ agent, message }),
    whenDurable: (callback) => void waiting.push(callback),
  })
  const commit = (): void => {
    const due = waiting
    waiting = []
    for (const callback of due) callback()
  }
  return { contents, said, noted, written, commit }
}

/** Agent 0, which does not wait for ever; `said` is what it said to anybody. */
function patientStand(ms: number): { clock: ManualClock; contents: SharedContents; said: PeerMessage[] } {
  const clock = new ManualClock()
  const said: PeerMessage[] = []
  const contents = new SharedContents({
    owners: new Owners(0, AGENTS),
    own: new MemoryContentSeen(),
    write: () => 0,
    note: () => {},
    send: (_, message) => void said.push(message),
    whenDurable: (callback) => callback(),
    patience: { clock, ms },
  })
  return { clock, contents, said }
}

const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))
const claimed = (agent: number, id: number, original: Original | null): unknown => ({
  agent,
  message: { kind: 'claimed', id, original },
})

test('an own digest is answered here; its original is written down here', async () => {
  const { contents, said, written, noted } = stand()
  expect(await contents.claim(OWN)).toBeNull()
  contents.keep(OWN, ORIGINAL)
  expect(await contents.claim(OWN)).toEqual(ORIGINAL)
  expect(written).toEqual([noteOf(OWN)])
  expect([...said, ...noted]).toEqual([])
  expect(contents.size).toBe(1)
})

test("another's digest is asked of its owner; an original travels as a note, a claim without a page is given back", async () => {
  const { contents, said, written, noted } = stand()
  const answer = contents.claim(FOREIGN)
  expect(said).toEqual([{ agent: 1, message: { kind: 'claim', id: 1, digest: FOREIGN.toString('hex') } }])
  expect(contents.asking).toBe(1)
  contents.answered(1, 1, null)
  expect(await answer).toBeNull()
  expect(contents.asking).toBe(0)
  contents.keep(FOREIGN, ORIGINAL)
  expect(noted).toEqual([noteOf(FOREIGN)])
  contents.release(FOREIGN)
  expect(said.at(-1)).toEqual({ agent: 1, message: { kind: 'release', digest: FOREIGN.toString('hex') } })
  expect(written).toEqual([])
})

test('of two who ask for one content the second hears when the page of the first has come, and is durable', async () => {
  const { contents, said, commit } = stand()
  void contents.lend(1, 10, OWN.toString('hex'))
  void contents.lend(2, 20, OWN.toString('hex'))
  await settle()
  expect(said).toEqual([claimed(1, 10, null)])
  contents.receive(noteOf(OWN))
  await settle()
  expect(said).toHaveLength(1)
  commit()
  expect(said.at(-1)).toEqual(claimed(2, 20, ORIGINAL))
})

test('a claim that is given back goes to whoever waits for it', async () => {
  const { contents, said } = stand()
  void contents.lend(1, 10, OWN.toString('hex'))
  void contents.lend(2, 20, OWN.toString('hex'))
  await settle()
  // Not theirs to give back.
  contents.returned(2, OWN.toString('hex'))
  await settle()
  expect(said).toHaveLength(1)
  contents.returned(1, OWN.toString('hex'))
  await settle()
  expect(said.at(-1)).toEqual(claimed(2, 20, null))
})

test('what an agent held when it died is free, also where it had asked twice', async () => {
  const { contents, said } = stand()
  void contents.lend(1, 10, OWN.toString('hex'))
  void contents.lend(1, 11, OWN.toString('hex'))
  void contents.lend(2, 20, OWN.toString('hex'))
  await settle()
  said.length = 0
  contents.reconnected(1)
  await settle()
  expect(said).toEqual([claimed(2, 20, null)])
})

test('an answer for one who is gone is told to nobody: its successor numbers its own questions', async () => {
  const { contents, said, commit } = stand()
  contents.keep(OWN, ORIGINAL)
  void contents.lend(1, 10, OWN.toString('hex'))
  await settle()
  contents.reconnected(1)
  commit()
  expect(said).toEqual([])
})

test('an owner that is new is asked again', () => {
  const { contents, said } = stand()
  void contents.claim(FOREIGN)
  said.length = 0
  contents.reconnected(2)
  expect(said).toEqual([])
  contents.reconnected(1)
  expect(said).toEqual([{ agent: 1, message: { kind: 'claim', id: 1, digest: FOREIGN.toString('hex') } }])
})

test('a note that comes in the moment in which a claim is lent is the answer, and nothing is held', async () => {
  const { contents, said, commit } = stand()
  void contents.lend(1, 10, OWN.toString('hex'))
  contents.receive(noteOf(OWN))
  await settle()
  commit()
  expect(said).toEqual([claimed(1, 10, ORIGINAL)])
  // A claim that is not held cannot be freed: this would break the owner.
  contents.reconnected(1)
})

test('whenever a note comes, and whenever the wire of the asker breaks, a claim is never freed that is not held', async () => {
  for (let noteAfter = 0; noteAfter < 8; noteAfter++) {
    for (let breakAfter = 0; breakAfter < 8; breakAfter++) {
      const { contents } = stand()
      const first = contents.lend(1, 10, OWN.toString('hex'))
      const second = contents.lend(2, 20, OWN.toString('hex'))
      for (let breath = 0; breath < 8; breath++) {
        if (breath === breakAfter) contents.reconnected(1)
        if (breath === noteAfter) contents.receive(noteOf(OWN))
        // One microtask, the shortest time in which anything else can happen.
        await Promise.resolve()
      }
      contents.reconnected(2)
      await Promise.all([first, second])
      contents.reconnected(1)
      expect(await contents.claim(OWN)).toEqual(ORIGINAL)
    }
  }
})

test('a set that cannot be asked any more is told as a failure of the question, not thrown at whoever hears messages', async () => {
  const own = new MemoryContentSeen()
  own.claim = () => {
    throw new Error('the disk is full')
  }
  const contents = new SharedContents({
    owners: new Owners(0, AGENTS),
    own,
    write: () => 0,
    note: () => {},
    send: () => {},
    whenDurable: (callback) => callback(),
  })
  await expect(contents.lend(1, 10, OWN.toString('hex'))).rejects.toThrow('the disk is full')
})

test('the first original stays, whoever else says to have one', async () => {
  const { contents } = stand()
  contents.receive(noteOf(OWN))
  contents.receive(noteOf(OWN, { ...ORIGINAL, url: 'http://b.test/' as CanonicalUrl }))
  expect(await contents.claim(OWN)).toEqual(ORIGINAL)
})

test('a claim that was free because a wire broke, and whose former holder has a page after all, ends for whoever has it now', async () => {
  const { contents, said } = stand()
  void contents.lend(1, 10, OWN.toString('hex'))
  await settle()
  expect(said).toEqual([claimed(1, 10, null)])
  const waiting = contents.claim(OWN)
  contents.reconnected(1)
  expect(await waiting).toBeNull()
  contents.receive(noteOf(OWN))
  // No page came of it here: there is nothing to give back, and the original stays.
  contents.release(OWN)
  expect(await contents.claim(OWN)).toEqual(ORIGINAL)
})

test('a note that comes in the moment in which a claim is ours is the answer, and nothing is held', async () => {
  const { contents } = stand()
  void contents.lend(1, 10, OWN.toString('hex'))
  await settle()
  const waiting = contents.claim(OWN)
  contents.reconnected(1)
  contents.receive(noteOf(OWN))
  expect(await waiting).toEqual(ORIGINAL)
  contents.release(OWN)
})

test('a claim of an own digest that is given back goes to whoever waits for it here', async () => {
  const { contents } = stand()
  expect(await contents.claim(OWN)).toBeNull()
  const waiting = contents.claim(OWN)
  contents.release(OWN)
  expect(await waiting).toBeNull()
  contents.release(OWN)
  expect(await contents.claim(OWN)).toBeNull()
})

test('an owner that does not answer is not waited for for ever, where there is a patience', async () => {
  const { clock, contents, said } = patientStand(1_000)
  const early = contents.claim(FOREIGN)
  clock.advance(900)
  const late = contents.claim(digestOf(2))
  clock.advance(600)
  expect(await early).toBeNull()
  expect(contents.asking).toBe(1)
  // An answer that comes too late is heard by nobody, one in time is.
  contents.answered(1, 1, ORIGINAL)
  contents.answered(2, 2, ORIGINAL)
  expect(await late).toEqual(ORIGINAL)
  expect(said.map(({ kind }) => kind)).toEqual(['claim', 'claim'])
})

test('an owner that was waited for in vain holds up nobody else, is asked now and then, and is waited for again once it is heard', async () => {
  const { clock, contents, said } = patientStand(3_000)
  const oldest = contents.claim(FOREIGN)
  clock.advance(2_000)
  // Asked later, and known to be in vain as soon as the oldest is.
  const younger = contents.claim(FOREIGN)
  const other = contents.claim(digestOf(2))
  clock.advance(1_100)
  expect(await oldest).toBeNull()
  expect(await younger).toBeNull()
  expect(contents.asking).toBe(1)
  contents.answered(2, 3, ORIGINAL)
  expect(await other).toEqual(ORIGINAL)
  said.length = 0
  // At once, and not as a promise.
  for (let i = 0; i < 10; i++) expect(contents.claim(FOREIGN)).toBeNull()
  expect(said).toEqual([])
  clock.advance(1_000)
  for (let i = 0; i < 10; i++) expect(contents.claim(FOREIGN)).toBeNull()
  expect(said).toEqual([{ kind: 'claim', id: 4, digest: FOREIGN.toString('hex') }])
  // Too late for that page, and a sign of life.
  contents.answered(1, 4, ORIGINAL)
  const again = contents.claim(FOREIGN)
  expect(again).toBeInstanceOf(Promise)
  contents.answered(1, 5, ORIGINAL)
  expect(await again).toEqual(ORIGINAL)
  // A new owner is heard by its wire.
  const lost = contents.claim(FOREIGN)
  clock.advance(4_500)
  expect(await lost).toBeNull()
  expect(contents.claim(FOREIGN)).toBeNull()
  contents.reconnected(1)
  expect(contents.claim(FOREIGN)).toBeInstanceOf(Promise)
})
