// One content has one original among all agents; what its owner tells of it is durable, and what the dead held is free. Where agents
// have marks in common a content may be had without its owner, and still by one of them only.

import { describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { MemoryContentSeen, type Original } from '../content-seen/index.ts'
import type { OriginalNote } from '../ledger/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { ContentMarks } from './content-marks.ts'
import { Owners } from './owners.ts'
import type { PeerMessage } from './peer-message.ts'
import { SharedContents } from './shared-contents.ts'

const AGENTS = 3
const ORIGINAL: Original = { url: 'http://a.test/' as CanonicalUrl, fetchedAtMs: 5, payloadDigest: null }

/** A digest that an agent owns, one of many. */
function digestOf(owner: number, number = 7): Buffer {
  const owners = new Owners(0, AGENTS)
  const digest = Buffer.alloc(32, number)
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
  expect(said).toEqual([
    { agent: 1, message: { kind: 'claim', id: 1, digest: FOREIGN.toString('hex'), mayBeHeld: false } },
  ])
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
  void contents.lend(1, 10, OWN.toString('hex'), false)
  void contents.lend(2, 20, OWN.toString('hex'), false)
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
  void contents.lend(1, 10, OWN.toString('hex'), false)
  void contents.lend(2, 20, OWN.toString('hex'), false)
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
  void contents.lend(1, 10, OWN.toString('hex'), false)
  void contents.lend(1, 11, OWN.toString('hex'), false)
  void contents.lend(2, 20, OWN.toString('hex'), false)
  await settle()
  said.length = 0
  contents.reconnected(1)
  await settle()
  expect(said).toEqual([claimed(2, 20, null)])
})

test('an answer for one who is gone is told to nobody: its successor numbers its own questions', async () => {
  const { contents, said, commit } = stand()
  contents.keep(OWN, ORIGINAL)
  void contents.lend(1, 10, OWN.toString('hex'), false)
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
  expect(said).toEqual([
    { agent: 1, message: { kind: 'claim', id: 1, digest: FOREIGN.toString('hex'), mayBeHeld: false } },
  ])
})

test('a note that comes in the moment in which a claim is lent is the answer, and nothing is held', async () => {
  const { contents, said, commit } = stand()
  void contents.lend(1, 10, OWN.toString('hex'), false)
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
      const first = contents.lend(1, 10, OWN.toString('hex'), false)
      const second = contents.lend(2, 20, OWN.toString('hex'), false)
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
  await expect(contents.lend(1, 10, OWN.toString('hex'), false)).rejects.toThrow('the disk is full')
})

test('the first original stays, whoever else says to have one', async () => {
  const { contents } = stand()
  contents.receive(noteOf(OWN))
  contents.receive(noteOf(OWN, { ...ORIGINAL, url: 'http://b.test/' as CanonicalUrl }))
  expect(await contents.claim(OWN)).toEqual(ORIGINAL)
})

test('a claim that was free because a wire broke, and whose former holder has a page after all, ends for whoever has it now', async () => {
  const { contents, said } = stand()
  void contents.lend(1, 10, OWN.toString('hex'), false)
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
  void contents.lend(1, 10, OWN.toString('hex'), false)
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
  expect(said).toEqual([{ kind: 'claim', id: 4, digest: FOREIGN.toString('hex'), mayBeHeld: false }])
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

/** Some agents over one table of marks. What they say waits until it is delivered. */
class Crew {
  readonly said: { readonly from: number; readonly to: number; readonly message: PeerMessage }[] = []
  readonly agents: SharedContents[] = []
  readonly #own: MemoryContentSeen[] = []
  readonly #noted: OriginalNote[][] = []
  readonly #marks: SharedArrayBuffer

  constructor({ bytes = 2 ** 12, isOpen = true } = {}) {
    this.#marks = ContentMarks.allocate(AGENTS, bytes)
    for (let agent = 0; agent < AGENTS; agent++) {
      this.#own.push(new MemoryContentSeen())
      this.#begin(agent)
      if (isOpen) this.open(agent)
    }
  }

  #begin(agent: number): void {
    const own = this.#own[agent] as MemoryContentSeen
    const noted: OriginalNote[] = []
    this.#noted[agent] = noted
    this.agents[agent] = new SharedContents({
      owners: new Owners(agent, AGENTS),
      own,
      write: () => 0,
      note: (note) => void noted.push(note),
      send: (to, message) => void this.said.push({ from: agent, to, message: structuredClone(message) }),
      whenDurable: (callback) => callback(),
      marks: new ContentMarks(this.#marks, agent, AGENTS),
    })
  }

  open(agent: number): void {
    new ContentMarks(this.#marks, agent, AGENTS).open(this.#own[agent] as MemoryContentSeen, [])
  }

  marksOf(agent: number): ContentMarks {
    return new ContentMarks(this.#marks, agent, AGENTS)
  }

  of(agent: number): SharedContents {
    return this.agents[agent] as SharedContents
  }

  /** What was said since this was asked last. */
  kinds(): string[] {
    return this.said.splice(0).map(({ from, to, message }) => `${from} → ${to}: ${message.kind}`)
  }

  /** Everything that was said is heard, and what is said to that, until nobody says anything. Returns all of it. */
  async deliver(): Promise<string[]> {
    const kinds: string[] = []
    for (await settle(); this.said.length > 0; await settle()) {
      const [{ from, to, message }] = this.said.splice(0, 1) as [Crew['said'][number]]
      kinds.push(`${from} → ${to}: ${message.kind}`)
      const hearer = this.of(to)
      if (message.kind === 'claim') void hearer.lend(from, message.id, message.digest, message.mayBeHeld)
      else if (message.kind === 'claimed') hearer.answered(from, message.id, message.original)
      else if (message.kind === 'probe') hearer.probe(from, message.id, message.digest)
      else if (message.kind === 'probed') hearer.probed(from, message.id, message.isHeld)
      else if (message.kind === 'release') hearer.returned(from, message.digest)
      else expect.unreachable(message.kind)
    }
    return kinds
  }

  /** A batch of an agent is durable, its notes arrive, and their owners have them in batches of their own. */
  commit(agent: number): void {
    const notes = (this.#noted[agent] as OriginalNote[]).splice(0)
    for (const note of notes) this.of(new Owners(0, AGENTS).ofDigest(Buffer.from(note.digest, 'hex'))).receive(note)
    this.of(agent).confirmed(notes)
  }

  /** The next one knows what is durable: what it owns, as far as `kept`, and the notes that stand in its journal. */
  die(agent: number, kept: readonly OriginalNote[] = [], pending: readonly OriginalNote[] = []): void {
    const own = new MemoryContentSeen()
    for (const { digest, ...original } of kept) own.keep(Buffer.from(digest, 'hex'), original)
    this.#own[agent] = own
    this.said.splice(0, this.said.length, ...this.said.filter(({ from, to }) => from !== agent && to !== agent))
    this.#begin(agent)
    this.of(agent).pending(pending)
    ;(this.#noted[agent] as OriginalNote[]).push(...pending)
    this.open(agent)
    for (let other = 0; other < AGENTS; other++) if (other !== agent) this.rewire(agent, other)
  }

  /** A new wire between two: what was under way on the old one is lost. */
  rewire(one: number, two: number): void {
    const isOnIt = (from: number, to: number): boolean => (from === one && to === two) || (from === two && to === one)
    this.said.splice(0, this.said.length, ...this.said.filter(({ from, to }) => !isOnIt(from, to)))
    this.of(one).reconnected(two)
    this.of(two).reconnected(one)
  }
}

/** An owner asks others whether they hold a claim, and they answer. */
function asked(owner: number, others: readonly number[]): string[] {
  return [...others.map((one) => `${owner} → ${one}: probe`), ...others.map((one) => `${one} → ${owner}: probed`)]
}

/** What a question came to so far. */
function watch(answer: Promise<Original | null> | Original | null): { is: Original | null | 'waiting' } {
  const watched: { is: Original | null | 'waiting' } = { is: 'waiting' }
  void Promise.resolve(answer).then((is) => (watched.is = is))
  return watched
}

/** A digest with the same mark as another one; it has the same owner. */
function lookAlikeOf(digest: Buffer): Buffer {
  const alike = Buffer.from(digest)
  alike[31] = 99
  return alike
}

/** Agent 1 owns it. */
const ITS = FOREIGN
const OTHER_ORIGINAL: Original = { ...ORIGINAL, url: 'http://b.test/' as CanonicalUrl }

describe('over one table of marks', () => {
  test('a content that nobody has marked is had at once, and nothing is said', () => {
    const crew = new Crew()
    expect(crew.of(0).claim(ITS)).toBeNull()
    expect(crew.of(1).claim(digestOf(1, 8))).toBeNull()
    expect([crew.said, crew.of(0).asking]).toEqual([[], 0])
  })

  test('as long as one of them has not said what it knows, owners are asked', async () => {
    const crew = new Crew({ isOpen: false })
    crew.open(0)
    crew.open(1)
    const first = watch(crew.of(0).claim(ITS))
    // A note of an earlier run may be on its way to the owner.
    const kinds = await crew.deliver()
    expect(kinds).toEqual(['0 → 1: claim', ...asked(1, [0, 2]), '1 → 0: claimed'])
    expect(first.is).toBeNull()
    crew.open(2)
    expect(crew.of(0).claim(digestOf(1, 8))).toBeNull()
    // It was marked before all had spoken, and is held by whoever marked it.
    const second = watch(crew.of(2).claim(ITS))
    await crew.deliver()
    expect(second.is).toBe('waiting')
  })

  test('where there is no room for a mark owners are asked, as where there are no marks', async () => {
    const crew = new Crew({ bytes: 64 })
    for (let i = 0; i < 16; i++) expect(crew.of(2).claim(digestOf(0, 100 + i))).toBeNull()
    const [first, second] = [watch(crew.of(0).claim(ITS)), watch(crew.of(2).claim(ITS))]
    expect(await crew.deliver()).toEqual(['0 → 1: claim', '2 → 1: claim', '1 → 0: claimed'])
    expect([first.is, second.is]).toEqual([null, 'waiting'])
    crew.of(0).keep(ITS, ORIGINAL)
    crew.commit(0)
    await crew.deliver()
    expect(second.is).toEqual(ORIGINAL)
    // The owner takes one for its own at once.
    expect(crew.of(1).claim(digestOf(1, 8))).toBeNull()
  })

  test('who comes second asks the owner, which asks the first, and answers with the original when the note is there', async () => {
    const crew = new Crew()
    expect(crew.of(0).claim(ITS)).toBeNull()
    const second = watch(crew.of(2).claim(ITS))
    expect(await crew.deliver()).toEqual(['2 → 1: claim', ...asked(1, [0, 2])])
    crew.of(0).keep(ITS, ORIGINAL)
    await crew.deliver()
    expect(second.is).toBe('waiting')
    crew.commit(0)
    expect(await crew.deliver()).toEqual(['1 → 2: claimed'])
    expect(second.is).toEqual(ORIGINAL)
    // Nobody needs to be asked any more.
    const third = watch(crew.of(0).claim(ITS))
    expect(await crew.deliver()).toEqual(['0 → 1: claim', '1 → 0: claimed'])
    expect(third.is).toEqual(ORIGINAL)
  })

  test('an owner asks before a page of its own has what another has marked', async () => {
    const crew = new Crew()
    expect(crew.of(0).claim(ITS)).toBeNull()
    const own = watch(crew.of(1).claim(ITS))
    const next = watch(crew.of(1).claim(ITS))
    expect(await crew.deliver()).toEqual(asked(1, [0, 2]))
    crew.of(0).keep(ITS, ORIGINAL)
    crew.commit(0)
    await crew.deliver()
    expect([own.is, next.is]).toEqual([ORIGINAL, ORIGINAL])
    // The claim has ended: there is nothing to give back.
    crew.of(1).release(ITS)
    expect(await crew.of(1).claim(ITS)).toEqual(ORIGINAL)
  })

  test('a note that comes while the holder is asked is the answer', async () => {
    const crew = new Crew()
    expect(crew.of(0).claim(ITS)).toBeNull()
    crew.of(0).keep(ITS, ORIGINAL)
    const [own, second] = [watch(crew.of(1).claim(ITS)), watch(crew.of(2).claim(ITS))]
    crew.commit(0)
    await crew.deliver()
    expect([own.is, second.is]).toEqual([ORIGINAL, ORIGINAL])
  })

  test('a content that is given back is free for whoever waits, in order', async () => {
    const crew = new Crew()
    expect(crew.of(0).claim(ITS)).toBeNull()
    const second = watch(crew.of(2).claim(ITS))
    await crew.deliver()
    const own = watch(crew.of(1).claim(ITS))
    await crew.deliver()
    crew.of(0).release(ITS)
    await crew.deliver()
    expect([second.is, own.is]).toEqual([null, 'waiting'])
    // Whoever had it first has to ask now like all others.
    const again = watch(crew.of(0).claim(ITS))
    crew.of(2).release(ITS)
    await crew.deliver()
    expect([own.is, again.is]).toEqual([null, 'waiting'])
    crew.of(1).keep(ITS, ORIGINAL)
    await crew.deliver()
    expect(again.is).toEqual(ORIGINAL)
  })

  test('a content that was given back while nobody waited is free, for whoever had it and for others', async () => {
    for (const next of [0, 1, 2]) {
      const crew = new Crew()
      expect(crew.of(0).claim(ITS)).toBeNull()
      crew.of(0).release(ITS)
      await crew.deliver()
      const answer = watch(crew.of(next).claim(ITS))
      await crew.deliver()
      expect(answer.is).toBeNull()
    }
  })

  test('what one gives back and another asks for cross each other: it is free once', async () => {
    for (const isAskedFirst of [true, false]) {
      const crew = new Crew()
      expect(crew.of(0).claim(ITS)).toBeNull()
      const [own, second] = [watch(crew.of(1).claim(ITS)), watch(crew.of(2).claim(ITS))]
      if (isAskedFirst) await settle()
      crew.of(0).release(ITS)
      await crew.deliver()
      expect([own.is, second.is]).toEqual([null, 'waiting'])
    }
  })

  test('what is said of one content, or by one who does not hold it, says nothing of another that is held', async () => {
    const crew = new Crew()
    const other = digestOf(1, 8)
    expect([crew.of(0).claim(ITS), crew.of(0).claim(other)]).toEqual([null, null])
    const [own, second] = [watch(crew.of(1).claim(ITS)), watch(crew.of(2).claim(other))]
    await crew.deliver()
    crew.of(1).returned(2, ITS.toString('hex'))
    crew.of(0).release(other)
    await crew.deliver()
    expect([own.is, second.is]).toEqual(['waiting', null])
    crew.of(2).keep(other, OTHER_ORIGINAL)
    crew.commit(2)
    await crew.deliver()
    expect(own.is).toBe('waiting')
    crew.of(0).keep(ITS, ORIGINAL)
    crew.commit(0)
    await crew.deliver()
    expect(own.is).toEqual(ORIGINAL)
  })

  test('one that died holds nothing but what its journal says', async () => {
    for (const isNoted of [true, false]) {
      const crew = new Crew()
      expect(crew.of(0).claim(ITS)).toBeNull()
      crew.of(0).keep(ITS, ORIGINAL)
      const [own, second] = [watch(crew.of(1).claim(ITS)), watch(crew.of(2).claim(ITS))]
      await crew.deliver()
      expect([own.is, second.is]).toEqual(['waiting', 'waiting'])
      crew.die(0, [], isNoted ? [noteOf(ITS)] : [])
      await crew.deliver()
      expect([own.is, second.is]).toEqual([isNoted ? 'waiting' : null, 'waiting'])
      if (isNoted) crew.commit(0)
      else crew.of(1).release(ITS)
      await crew.deliver()
      expect(second.is).toEqual(isNoted ? ORIGINAL : null)
    }
  })

  test('an owner that died and forgot hands out nothing that is held, however it was had', async () => {
    for (const isLent of [true, false]) {
      const crew = new Crew()
      if (isLent) {
        // The owner has it first, and gives it away.
        expect(crew.of(1).claim(ITS)).toBeNull()
        crew.of(1).release(ITS)
      }
      const first = watch(crew.of(0).claim(ITS))
      await crew.deliver()
      expect(first.is).toBeNull()
      const second = watch(crew.of(2).claim(ITS))
      await crew.deliver()
      crew.die(1)
      const own = watch(crew.of(1).claim(ITS))
      await crew.deliver()
      expect([own.is, second.is]).toEqual(['waiting', 'waiting'])
      crew.of(0).keep(ITS, ORIGINAL)
      crew.commit(0)
      await crew.deliver()
      expect([own.is, second.is]).toEqual([ORIGINAL, ORIGINAL])
    }
  })

  test('what an owner held itself is free when it died, and what it had kept is not', async () => {
    for (const isKept of [true, false]) {
      const crew = new Crew()
      expect(crew.of(1).claim(ITS)).toBeNull()
      const second = watch(crew.of(2).claim(ITS))
      await crew.deliver()
      expect(second.is).toBe('waiting')
      crew.die(1, isKept ? [noteOf(ITS)] : [])
      await crew.deliver()
      expect(second.is).toEqual(isKept ? ORIGINAL : null)
    }
  })

  test('a wire that breaks frees nothing that is held, and who was asked is asked again', async () => {
    const crew = new Crew()
    // One by a mark, one lent.
    const lent = digestOf(1, 8)
    expect(crew.of(0).claim(ITS)).toBeNull()
    expect(crew.of(1).claim(lent)).toBeNull()
    crew.of(1).release(lent)
    const first = watch(crew.of(0).claim(lent))
    await crew.deliver()
    expect(first.is).toBeNull()
    const waiting = [crew.of(1).claim(ITS), crew.of(2).claim(ITS), crew.of(1).claim(lent), crew.of(2).claim(lent)]
    const seconds = waiting.map((answer) => watch(answer))
    for (const breakAfter of [0, 1, 2, 3]) {
      for (let i = 0; i < breakAfter; i++) await Promise.resolve()
      crew.rewire(0, 1)
      await crew.deliver()
    }
    expect(seconds.map(({ is }) => is)).toEqual(Array(4).fill('waiting'))
    crew.of(0).keep(lent, ORIGINAL)
    crew.of(0).release(ITS)
    crew.rewire(0, 1)
    crew.commit(0)
    await crew.deliver()
    expect(seconds.map(({ is }) => is)).toEqual([null, 'waiting', ORIGINAL, ORIGINAL])
  })

  test('a claim whose answer was lost with the wire is not held, and is had when it is asked for again', async () => {
    const crew = new Crew()
    expect(crew.of(1).claim(ITS)).toBeNull()
    crew.of(1).release(ITS)
    const first = watch(crew.of(0).claim(ITS))
    await settle()
    void crew.of(1).lend(0, 1, ITS.toString('hex'), false)
    await settle()
    expect(crew.kinds()).toEqual(['0 → 1: claim', '1 → 0: claimed'])
    crew.rewire(0, 1)
    expect(await crew.deliver()).toEqual(['0 → 1: claim', ...asked(1, [0, 2]), '1 → 0: claimed'])
    expect(first.is).toBeNull()
  })

  test('contents that look alike cost a question, take nothing from each other, and each has its pages', async () => {
    const crew = new Crew()
    const alike = lookAlikeOf(ITS)
    expect(crew.of(0).claim(ITS)).toBeNull()
    const second = watch(crew.of(2).claim(alike))
    await crew.deliver()
    expect(second.is).toBeNull()
    const own = watch(crew.of(1).claim(ITS))
    await crew.deliver()
    expect(own.is).toBe('waiting')
    crew.of(2).keep(alike, OTHER_ORIGINAL)
    crew.of(0).keep(ITS, ORIGINAL)
    crew.commit(2)
    crew.commit(0)
    await crew.deliver()
    expect(own.is).toEqual(ORIGINAL)
    const later = [watch(crew.of(0).claim(alike)), watch(crew.of(0).claim(ITS))]
    await crew.deliver()
    expect(later.map(({ is }) => is)).toEqual([OTHER_ORIGINAL, ORIGINAL])
  })

  test('a note of an earlier run is waited for, also where another marked its content before its agent had opened', async () => {
    const crew = new Crew({ isOpen: false })
    crew.open(1)
    crew.open(2)
    crew.of(0).pending([noteOf(ITS)])
    const second = watch(crew.of(2).claim(ITS))
    crew.marksOf(0).open(new MemoryContentSeen(), [ITS])
    await crew.deliver()
    expect(second.is).toBe('waiting')
  })

  test('of an owner that has outgrown the table others know nothing, and it asks nobody about what nobody had marked', async () => {
    const crew = new Crew({ isOpen: false })
    crew.open(0)
    crew.open(2)
    const many = { size: 2 ** 20, eachKey: () => expect.unreachable() }
    crew.marksOf(1).open(many, [])
    const first = watch(crew.of(0).claim(ITS))
    expect(await crew.deliver()).toEqual(['0 → 1: claim', '1 → 0: claimed'])
    expect(first.is).toBeNull()
    expect(crew.of(1).claim(digestOf(1, 8))).toBeNull()
    expect(crew.of(1).claim(digestOf(2, 8))).toBeNull()
    expect(crew.kinds()).toEqual([])
  })

  test('what is held is forgotten when it is confirmed, given back, or another’s page', async () => {
    const crew = new Crew()
    const ask = async (): Promise<boolean | null> => {
      crew.of(0).probe(1, 7, ITS.toString('hex'))
      const [told] = crew.said.splice(0)
      return told?.message.kind === 'probed' && told.message.id === 7 ? told.message.isHeld : null
    }
    expect(await ask()).toBe(false)
    expect(crew.of(0).claim(ITS)).toBeNull()
    expect(await ask()).toBe(true)
    crew.of(0).release(ITS)
    await crew.deliver()
    expect(await ask()).toBe(false)
    // Had by a question this time.
    const lent = watch(crew.of(0).claim(ITS))
    await crew.deliver()
    expect([lent.is, await ask()]).toEqual([null, true])
    crew.of(0).keep(ITS, ORIGINAL)
    expect(await ask()).toBe(true)
    crew.commit(0)
    expect(await ask()).toBe(false)
    const copy = watch(crew.of(0).claim(ITS))
    await crew.deliver()
    expect([copy.is, await ask()]).toEqual([ORIGINAL, false])
    // Of an earlier run.
    crew.of(0).pending([noteOf(ITS)])
    expect(await ask()).toBe(true)
    crew.of(0).confirmed([noteOf(ITS)])
    expect(await ask()).toBe(false)
  })
})

test('without marks nothing is remembered of what is held: nobody asks for it', () => {
  const { contents, said } = stand()
  void contents.claim(FOREIGN)
  contents.answered(1, 1, null)
  contents.pending([noteOf(digestOf(2))])
  said.length = 0
  contents.probe(1, 1, FOREIGN.toString('hex'))
  contents.probe(2, 2, digestOf(2).toString('hex'))
  expect(said.map(({ message }) => message.kind === 'probed' && message.isHeld)).toEqual([false, false])
})
