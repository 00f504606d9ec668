// The law for every set of contents, run on each with a factory.

import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import type { ContentSeen, FoundOriginal, KnownContents, Original } from './content-seen.ts'
import { bitsAt } from './digest.ts'

/** Page records as a test holds them: what a set on disk reads originals back from. */
export class Records {
  readonly #records: FoundOriginal[] = []
  readonly #first: number
  /** Positions that were read back. */
  readonly read: number[] = []

  /** The position of the first record: files longer than 4 GiB begin where a test likes. */
  constructor(first = 0) {
    this.#first = first
  }

  /** Where the next record will stand. */
  get length(): number {
    return this.#first + this.#records.length * RECORD_BYTES
  }

  /** Writes a page's record and keeps its digest. */
  keep(seen: ContentSeen, digest: Uint8Array, original: Original): void {
    const position = this.length
    this.#records.push({ digest: `sha256:${Buffer.from(digest).toString('hex')}`, original })
    seen.keep(digest, original, position)
  }

  /** What a crash does to records that no batch speaks of. */
  cut(length: number): void {
    this.#records.length = (length - this.#first) / RECORD_BYTES
  }

  readonly readOriginal = async (position: number): Promise<FoundOriginal> => {
    this.read.push(position)
    await Promise.resolve()
    const found = this.#records[(position - this.#first) / RECORD_BYTES]
    if (found === undefined) throw new Error(`no record at ${position}`)
    return found
  }
}

const RECORD_BYTES = 500

type WholeSet = ContentSeen & KnownContents
export type MakeContentSeen = (records: Records) => WholeSet | Promise<WholeSet>

export function digestOf(content: string): Buffer {
  return createHash('sha256').update(content).digest()
}

export function originalOf(name: string | number, payloadDigest: string | null = null): Original {
  return { url: `http://h/${name}` as CanonicalUrl, fetchedAtMs: 1_700_000_000_123, payloadDigest }
}

/** What a set shows of itself: the first 64 bits of digests, each once. */
export function keysOf(seen: KnownContents): string[] {
  const keys = new Set<string>()
  seen.eachKey((high, low) => keys.add(`${high} ${low}`))
  return [...keys].toSorted()
}

/** The same of digests. */
export function keysOfDigests(digests: readonly Uint8Array[]): string[] {
  return [...new Set(digests.map((digest) => `${bitsAt(digest, 0)} ${bitsAt(digest, 4)}`))].toSorted()
}

/** Whether a claim is still waiting when everything that could be settled is settled. */
export async function isWaiting(answer: unknown): Promise<boolean> {
  const waits = Symbol('waits')
  const idle = new Promise((resolve) => {
    setImmediate(resolve, waits)
  })
  return (await Promise.race([answer, idle])) === waits
}

export function contentSeenConformance(name: string, make: MakeContentSeen): void {
  const start = async (): Promise<{ seen: WholeSet; records: Records }> => {
    const records = new Records()
    return { seen: await make(records), records }
  }

  describe(name, () => {
    test('content nobody had is new, and known once its page is kept', async () => {
      const { seen, records } = await start()
      const digest = digestOf('x')
      expect(await seen.claim(digest)).toBeNull()
      records.keep(seen, digest, originalOf('first'))
      expect(await seen.claim(digest)).toEqual(originalOf('first'))
      expect(seen.size).toBe(1)
    })

    test('a page that is fetched again is no duplicate of itself', async () => {
      const { seen } = await start()
      const digest = digestOf('x')
      expect(await seen.claim(digest)).toBeNull()
      seen.release(digest)
      expect(await seen.claim(digest)).toBeNull()
      expect(seen.size).toBe(0)
    })

    test('who asks while another holds the claim waits and learns who was first', async () => {
      const { seen, records } = await start()
      const digest = digestOf('x')
      await seen.claim(digest)
      const second = seen.claim(digest)
      const third = seen.claim(digest)
      expect(await isWaiting(second)).toBe(true)
      records.keep(seen, digest, originalOf('first'))
      expect([await second, await third]).toEqual([originalOf('first'), originalOf('first')])
    })

    test('a released claim goes to those who wait, one after another, in order', async () => {
      const { seen, records } = await start()
      const digest = digestOf('x')
      await seen.claim(digest)
      const second = seen.claim(digest)
      const third = seen.claim(digest)
      seen.release(digest)
      expect(await second).toBeNull()
      expect(await isWaiting(third)).toBe(true)
      seen.release(digest)
      expect(await third).toBeNull()
      records.keep(seen, digest, originalOf('third'))
      expect(await seen.claim(digest)).toEqual(originalOf('third'))
    })

    test('a claim on one content makes nobody wait for another', async () => {
      const { seen } = await start()
      await seen.claim(digestOf('x'))
      expect(await seen.claim(digestOf('y'))).toBeNull()
    })

    test('a claim that is not held cannot be released', async () => {
      const { seen } = await start()
      expect(() => seen.release(digestOf('x'))).toThrow(/not held/)
    })

    test('an empty body is never a duplicate', async () => {
      const { seen, records } = await start()
      const empty = digestOf('')
      for (let i = 0; i < 3; i++) {
        expect(await seen.claim(empty)).toBeNull()
        records.keep(seen, empty, originalOf(i))
      }
      seen.release(empty)
      expect(seen.size).toBe(0)
    })

    test('the first page that was kept stays the original', async () => {
      const { seen, records } = await start()
      const digest = digestOf('x')
      records.keep(seen, digest, originalOf('first'))
      records.keep(seen, digest, originalOf('second'))
      expect(await seen.claim(digest)).toEqual(originalOf('first'))
      expect(seen.size).toBe(1)
    })

    test.each([
      ['absent', null],
      ['that of the decoded body', `sha256:${Buffer.from(digestOf('x')).toString('hex')}`],
      ['of its own', `sha256:${'ab'.repeat(32)}`],
    ])('a payload digest that is %s comes back as it was', async (_, payloadDigest) => {
      const { seen, records } = await start()
      records.keep(seen, digestOf('x'), originalOf('a', payloadDigest))
      expect(await seen.claim(digestOf('x'))).toEqual(originalOf('a', payloadDigest))
    })

    test('the caller may use its digest buffer again', async () => {
      const { seen, records } = await start()
      const buffer = Uint8Array.from(digestOf('x'))
      await seen.claim(buffer)
      records.keep(seen, buffer, originalOf('x'))
      buffer.set(digestOf('y'))
      expect(await seen.claim(buffer)).toBeNull()
      seen.release(buffer)
      expect(await seen.claim(digestOf('x'))).toEqual(originalOf('x'))
    })

    test('a digest is 32 bytes, no more and no less', async () => {
      const { seen } = await start()
      expect(() => seen.claim(new Uint8Array(20))).toThrow(/32 bytes/)
    })

    test('contents by the thousand keep their originals', async () => {
      const { seen, records } = await start()
      const COUNT = 5_000
      for (let i = 0; i < COUNT; i++) records.keep(seen, digestOf(`c${i}`), originalOf(i))
      expect(seen.size).toBe(COUNT)
      for (let i = 0; i < COUNT; i++) expect((await seen.claim(digestOf(`c${i}`)))?.url).toBe(`http://h/${i}`)
    })

    test('what is kept is shown by its first bits, what is claimed or given back is not', async () => {
      const { seen, records } = await start()
      expect(keysOf(seen)).toEqual([])
      const digests = Array.from({ length: 1_000 }, (_, i) => digestOf(`c${i}`))
      for (const [i, digest] of digests.entries()) {
        records.keep(seen, digest, originalOf(i))
        if (i === 300) expect(keysOf(seen)).toEqual(keysOfDigests(digests.slice(0, 301)))
      }
      await seen.claim(digestOf('claimed'))
      await seen.claim(digestOf('given back'))
      seen.release(digestOf('given back'))
      records.keep(seen, digestOf(''), originalOf('empty'))
      expect(keysOf(seen)).toEqual(keysOfDigests(digests))
    })

    test('whatever is claimed, kept and released, every asker is answered as the law says', async () => {
      const step = fc.record({
        content: fc.nat({ max: 3 }),
        kind: fc.constantFrom('claim', 'claim', 'keep', 'release'),
      })
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
          const { seen, records } = await start()
          const model = Array.from({ length: 4 }, () => new ModelContent())
          const answers = new Map<number, string | null>()
          const expected = new Map<number, string | null>()
          for (const [asker, { content, kind }] of steps.entries()) {
            const digest = digestOf(`c${content}`)
            const plain = model[content]!
            if (kind === 'claim') {
              void Promise.resolve(seen.claim(digest)).then((given) =>
                answers.set(asker, given === null ? null : given.url),
              )
              plain.claim(asker, expected)
            } else if (plain.holder !== null) {
              if (kind === 'keep') records.keep(seen, digest, originalOf(plain.holder))
              else seen.release(digest)
              plain[kind](expected)
            }
            await new Promise(setImmediate)
            expect([...answers].sort(byAsker)).toEqual([...expected].sort(byAsker))
          }
          expect(seen.size).toBe(model.filter((plain) => plain.kept !== null).length)
        }),
        { numRuns: 40 },
      )
    })
  })
}

const byAsker = (a: readonly [number, unknown], b: readonly [number, unknown]): number => a[0] - b[0]

/** What becomes of one content, as plainly as possible. Answers go to `given`: null to a holder, else a URL. */
class ModelContent {
  kept: string | null = null
  holder: number | null = null
  #queue: number[] = []

  claim(asker: number, given: Map<number, string | null>): void {
    if (this.kept !== null) given.set(asker, this.kept)
    else if (this.holder !== null) this.#queue.push(asker)
    else {
      this.holder = asker
      given.set(asker, null)
    }
  }

  keep(given: Map<number, string | null>): void {
    this.kept = originalOf(this.holder ?? 'nobody').url
    this.holder = null
    for (const asker of this.#queue) given.set(asker, this.kept)
    this.#queue = []
  }

  release(given: Map<number, string | null>): void {
    this.holder = this.#queue.shift() ?? null
    if (this.holder !== null) given.set(this.holder, null)
  }
}
