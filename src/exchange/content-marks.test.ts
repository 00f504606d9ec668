// Of all that mark a content one is told that nobody has; whoever finds no room is not told so. Also where threads really run at once.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bitsAt, type KnownContents } from '../content-seen/index.ts'
import { ContentMarks, type Marking } from './content-marks.ts'

const AGENTS = 3
/** Four buckets, chosen by the first two bits of a digest's second word. */
const BUCKETS = 4
const BUCKET_WORDS = 16
const BYTES = BUCKETS * BUCKET_WORDS * 4

function marksOf(bytes = BYTES, agents = AGENTS): ContentMarks[] {
  const buffer = ContentMarks.allocate(agents, bytes)
  return Array.from({ length: agents }, (_, agent) => new ContentMarks(buffer, agent, agents))
}

/** A digest by what is looked at, 32 bits and the bucket, and by what is not. */
function digestOf(tag: number, bucket = 0, rest = 0): Buffer {
  const digest = Buffer.alloc(32, rest)
  digest.writeUInt32BE(tag)
  digest[4] = (bucket << 6) | (rest & 63)
  return digest
}

function known(...digests: Buffer[]): KnownContents {
  return {
    size: digests.length,
    eachKey: (see) => {
      for (const digest of digests) see(bitsAt(digest, 0), bitsAt(digest, 4))
    },
  }
}

const NOTHING = known()
const contentsOf = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, i) => createHash('sha256').update(String(i)).digest())

describe('marking', () => {
  test('of all that mark one content the first hears that it is, and nobody else, the first included, ever again', () => {
    const [first, second, third] = marksOf() as [ContentMarks, ContentMarks, ContentMarks]
    const digest = digestOf(7)
    expect(second.mark(digest)).toBe('first')
    expect([first, second, third].map((marks) => marks.mark(digest))).toEqual(['met', 'met', 'met'])
  })

  test('in a full bucket what found room is known, and nobody is told of the rest that it is new', () => {
    const [first, second] = marksOf() as [ContentMarks, ContentMarks]
    for (let tag = 1; tag <= BUCKET_WORDS; tag++) expect(first.mark(digestOf(tag))).toBe('first')
    for (let round = 0; round < 2; round++) expect(second.mark(digestOf(100))).toBe('untold')
    for (let tag = 1; tag <= BUCKET_WORDS; tag++) expect(second.mark(digestOf(tag))).toBe('met')
    expect(second.mark(digestOf(100, 1))).toBe('first')
  })

  test('contents that look alike are one, and one that looks like a free word is marked all the same', () => {
    const [first, second] = marksOf() as [ContentMarks, ContentMarks]
    expect(first.mark(digestOf(7, 2, 5))).toBe('first')
    expect(second.mark(digestOf(7, 2, 40))).toBe('met')
    expect(second.mark(digestOf(7, 3, 5))).toBe('first')
    expect(first.mark(digestOf(0))).toBe('first')
    expect(second.mark(digestOf(0))).toBe('met')
    expect(second.mark(digestOf(2 ** 32 - 1))).toBe('first')
    expect(first.mark(digestOf(2 ** 32 - 1))).toBe('met')
  })

  test('an agent has its place among those there are', () => {
    const buffer = ContentMarks.allocate(AGENTS, BYTES)
    expect(() => new ContentMarks(buffer, AGENTS, AGENTS)).toThrow('marks of 3 agents for agent 3')
  })

  test('there is a bucket, however few bytes there are, and never more than was given', () => {
    const [first] = marksOf(0) as [ContentMarks]
    expect(first.mark(digestOf(7, 3))).toBe('first')
    const bytes = fc.integer({ min: 64, max: 2 ** 20 })
    fc.assert(
      fc.property(bytes, (given) => {
        const taken = ContentMarks.allocate(AGENTS, given).byteLength - AGENTS * 4
        expect(taken).toBeLessThanOrEqual(given)
        expect(taken).toBeGreaterThan(given - BUCKET_WORDS * 4)
      }),
    )
  })

  test('whatever is marked by whom, the answers are those of a plain list', () => {
    const step = fc.record({
      agent: fc.nat({ max: AGENTS - 1 }),
      // Few, so that they look alike; more than a bucket holds, so that it is full. 0 looks like 1.
      tag: fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constantFrom(2 ** 31, 2 ** 32 - 1)),
      bucket: fc.nat({ max: 1 }).map((half) => half * (BUCKETS - 1)),
      rest: fc.nat({ max: 255 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const marks = marksOf()
        const buckets = Array.from({ length: BUCKETS }, () => new Set<number>())
        for (const { agent, tag, bucket, rest } of steps) {
          const plain = buckets[bucket] as Set<number>
          const expected = plain.has(tag) ? 'met' : plain.size === BUCKET_WORDS ? 'untold' : 'first'
          expect(marks[agent]?.mark(digestOf(tag, bucket, rest))).toBe(expected)
          if (expected === 'first') plain.add(tag)
        }
      }),
    )
  })
})

describe('opening', () => {
  test('whoever is first is the first of all with no owner before all have opened', () => {
    const marks = marksOf()
    for (const [agent, one] of marks.entries()) {
      for (const other of marks) expect([0, 1, 2].some((owner) => other.isWhole(owner))).toBe(false)
      for (const other of marks) expect(other.areOpen).toBe(false)
      one.open(NOTHING, [])
      expect(agent).toBeLessThan(AGENTS)
    }
    for (const one of marks) expect(one.areOpen).toBe(true)
    for (const one of marks) expect([0, 1, 2].every((owner) => one.isWhole(owner))).toBe(true)
  })

  test('what an agent knows and what it has on its way is marked', () => {
    const [first, second] = marksOf() as [ContentMarks, ContentMarks]
    first.open(known(digestOf(1), digestOf(2, 3)), [digestOf(3), digestOf(1)])
    expect([digestOf(1), digestOf(2, 3), digestOf(3)].map((digest) => second.mark(digest))).toEqual([
      'met',
      'met',
      'met',
    ])
    expect(second.mark(digestOf(4))).toBe('first')
  })

  test('of an owner that knows more than there is room for not all is marked, of others it is', () => {
    const [first, second, third] = marksOf() as [ContentMarks, ContentMarks, ContentMarks]
    first.open(known(...contentsOf(BUCKETS * BUCKET_WORDS)), [digestOf(5)])
    second.open(known(...contentsOf(8)), [])
    third.open(NOTHING, [])
    expect([0, 1, 2].map((owner) => third.isWhole(owner))).toEqual([false, true, true])
    // Its notes on their way concern other owners.
    expect(third.mark(digestOf(5))).toBe('met')
  })

  test('what an owner knows and finds no room in its bucket is not told to be new', () => {
    const [first, second] = marksOf() as [ContentMarks, ContentMarks]
    const digests = Array.from({ length: 2 * BUCKET_WORDS }, (_, tag) => digestOf(tag + 1))
    first.open(known(...digests), [])
    for (const digest of digests) expect(second.mark(digest)).not.toBe('first')
  })

  test('one that is started again opens once, and its marks stand', () => {
    const buffer = ContentMarks.allocate(1, BYTES)
    new ContentMarks(buffer, 0, 1).open(known(digestOf(1)), [])
    const again = new ContentMarks(buffer, 0, 1)
    again.open(known(digestOf(2)), [digestOf(3)])
    expect([1, 2, 3].map((tag) => again.mark(digestOf(tag)))).toEqual(['met', 'first', 'first'])
    expect(again.isWhole(0)).toBe(true)
  })

  test('one that broke while it opened has not opened, and the next one does', () => {
    const buffer = ContentMarks.allocate(1, BYTES)
    const broken: KnownContents = {
      size: 1,
      eachKey: () => {
        throw new Error('a damaged run')
      },
    }
    const marks = new ContentMarks(buffer, 0, 1)
    expect(() => marks.open(broken, [])).toThrow('a damaged run')
    expect(marks.isWhole(0)).toBe(false)
    new ContentMarks(buffer, 0, 1).open(NOTHING, [])
    expect(marks.isWhole(0)).toBe(true)
  })
})

describe('threads that run at once', () => {
  const ROUNDS = 50
  /** Marks contents, round after round, each when all have come to it. What it heard goes to `heard`. */
  const CODE = `
    const { workerData } = require('node:worker_threads')
    const { module, buffer, agent, agents, digests, rounds, heard, come, told } = workerData
    const all = digests.length / 32
    const count = all / rounds
    // Two go the same way: whoever is behind finds what is marked already, which is faster, and so they meet all the time.
    const step = [1, 1, count - 1][agent]
    const waitForAll = (round) => {
      Atomics.add(come, 0, 1)
      Atomics.notify(come, 0)
      for (let n = Atomics.load(come, 0); n < agents * (round + 1); n = Atomics.load(come, 0)) Atomics.wait(come, 0, n)
    }
    import(module).then(({ ContentMarks }) => {
      const marks = new ContentMarks(buffer, agent, agents)
      for (let round = 0; round < rounds; round++) {
        waitForAll(round)
        for (let i = 0, at = 0; i < count; i++, at = (at + step) % count) {
          const content = round * count + at
          heard[agent * all + content] = told.indexOf(marks.mark(digests.subarray(content * 32, content * 32 + 32)))
        }
      }
    })`

  const TOLD: readonly (Marking | undefined)[] = ['first', 'met', 'untold']

  /** By content: what each of the agents heard. */
  async function hammered(digests: readonly Buffer[], bytes: number): Promise<(Marking | undefined)[][]> {
    const heard = new Int32Array(new SharedArrayBuffer(AGENTS * digests.length * 4))
    const work = {
      module: new URL('content-marks.ts', import.meta.url).href,
      buffer: ContentMarks.allocate(AGENTS, bytes),
      agents: AGENTS,
      digests: new Uint8Array(Buffer.concat(digests)),
      rounds: ROUNDS,
      heard,
      told: TOLD,
      come: new Int32Array(new SharedArrayBuffer(4)),
    }
    const workers = Array.from(
      { length: AGENTS },
      (_, agent) => new Worker(CODE, { eval: true, workerData: { ...work, agent } }),
    )
    await Promise.all(workers.map((worker) => once(worker, 'exit')))
    return digests.map((_, i) =>
      Array.from({ length: AGENTS }, (__, agent) => TOLD[heard[agent * digests.length + i] ?? -1]),
    )
  }

  const ofOneFirst = (answers: readonly unknown[]): unknown[] => {
    const first = answers.indexOf('first')
    return answers.map((_, agent) => (agent === first ? 'first' : 'met'))
  }

  test('of each content one hears that it is the first, and the others that somebody was', async () => {
    const told = await hammered(contentsOf(20_000), 2 ** 20)
    for (const answers of told) {
      expect(answers).toContain('first')
      expect(answers).toEqual(ofOneFirst(answers))
    }
    // A thread that is always done before the others begin would prove nothing.
    expect(new Set(told.map((answers) => answers.indexOf('first'))).size).toBeGreaterThan(1)
  })

  test('where there is no room for all no content is new to two, and what is new to one is new to nobody else', async () => {
    const told = await hammered(contentsOf(20_000), 2 ** 15)
    let marked = 0
    for (const answers of told) {
      if (answers.includes('first')) {
        marked++
        expect(answers).toEqual(ofOneFirst(answers))
      } else expect(answers).toEqual(['untold', 'untold', 'untold'])
    }
    expect(marked).toBe(2 ** 13)
  })
})
