// Messages cross threads whole and in order, whatever they carry.

import { MessageChannel } from 'node:worker_threads'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CanonicalUrl } from '../url/index.ts'
import type { LentAnswer, PeerMessage } from './peer-message.ts'
import { PortWire } from './wire.ts'

const url = fc.string({ unit: 'binary' }).map((text) => `http://a.example/${text}` as CanonicalUrl)
const id = fc.nat()
const original = fc.record({ url, fetchedAtMs: fc.nat(), payloadDigest: fc.option(fc.string()) })
const message: fc.Arbitrary<PeerMessage> = fc.oneof(
  fc.record({ kind: fc.constant('hello' as const), holds: id, last: id }),
  fc.record({ kind: fc.constant('claim' as const), id, digest: fc.string(), mayBeHeld: fc.boolean() }),
  fc.record({ kind: fc.constant('claimed' as const), id, original: fc.option(original) }),
  fc.record({ kind: fc.constant('confirmed' as const), upTo: id }),
  fc.record({ kind: fc.constant('release' as const), digest: fc.string() }),
  fc.record({ kind: fc.constant('errand' as const), id, url }),
  fc.record({ kind: fc.constant('turn-want' as const), gate: fc.constant('domain' as const), door: id, id }),
  fc.record({
    kind: fc.constant('turn-given' as const),
    gate: fc.constant('address' as const),
    id,
    forMs: fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  }),
  fc.record({ kind: fc.constant('turn-later' as const), gate: fc.constant('address' as const), id, inMs: fc.nat() }),
  fc.record({
    kind: fc.constant('turn-back' as const),
    gate: fc.constant('domain' as const),
    id,
    wasAsked: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('lend-offer' as const), id }),
  fc.record({
    kind: fc.constant('lend-turn' as const),
    id,
    forMs: id,
    turn: fc.record({ urls: fc.array(url), addresses: fc.constant([{ ip: '127.1.0.1', family: 4 as const }]) }),
  }),
  fc.record({
    kind: fc.constant('lend-done' as const),
    id,
    answers: fc.array(
      fc.record({ kind: fc.constant('fetched' as const), answer: fc.record({ wire: fc.uint8Array() }) }),
    ) as unknown as fc.Arbitrary<readonly LentAnswer[]>,
    next: fc.option(id),
  }),
  fc.record({
    kind: fc.constant('parcel' as const),
    parcel: fc.record({ number: id, entries: fc.string({ unit: 'binary' }), originals: fc.constant([]) }),
  }),
  fc.record({
    kind: fc.constant('errand-done' as const),
    id,
    answer: fc.record({
      kind: fc.constant('answered' as const),
      answer: fc.record({
        url,
        status: fc.nat(),
        location: fc.constant(null),
        cacheControl: fc.constant(null),
        body: fc.uint8Array(),
        isCut: fc.boolean(),
      }),
    }),
  }),
)

test('what is said in one turn of the loop or in several is heard in that order, to the last byte', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(message, { maxLength: 12 }), { minLength: 1, maxLength: 4 }), async (turns) => {
      const { port1, port2 } = new MessageChannel()
      const near = new PortWire(port1)
      const far = new PortWire(port2)
      const all = turns.flat()
      const heard: PeerMessage[] = []
      await new Promise<void>((resolve) => {
        const listen = (said: PeerMessage): void => {
          heard.push(said)
          if (heard.length === all.length + 1) resolve()
        }
        far.listen(listen)
        const sayFrom = (turn: number): void => {
          for (const one of turns[turn] ?? []) near.send(one)
          if (turn < turns.length) setImmediate(sayFrom, turn + 1)
          else near.send({ kind: 'lend-wanted' })
        }
        sayFrom(0)
      })
      near.close()
      far.close()
      expect(heard).toEqual([...all, { kind: 'lend-wanted' }])
    }),
    { numRuns: 100 },
  )
})

test('a closed wire says nothing more, and what was said in its last turn is lost with it', async () => {
  const { port1, port2 } = new MessageChannel()
  const near = new PortWire(port1)
  const heard: unknown[] = []
  const gone = new Promise<void>((resolve) => port2.on('close', resolve))
  port2.on('message', (said) => heard.push(said))
  near.send({ kind: 'lend-wanted' })
  near.close()
  near.send({ kind: 'lend-wanted' })
  await gone
  expect(heard).toEqual([])
})
