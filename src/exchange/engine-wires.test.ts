// Wires over an engine that loses messages: what arrives was said on that wire, in order and whole; what is lost ends it.

import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { ManualClock, Random } from '../base/index.ts'
import { ENTRY_BYTES_MAX, type MemoryClient, MemoryEngine } from '../engine/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { EngineWires, PACKET_BYTES_MAX } from './engine-wires.ts'
import type { PeerMessage } from './peer-message.ts'
import type { Wire } from './wire.ts'

/** An agent that talks, with every wire that it was given and what it heard on each. */
interface Talker {
  readonly wires: EngineWires
  readonly client: MemoryClient
  readonly given: { readonly peer: number; readonly wire: Wire; readonly heard: PeerMessage[] }[]
}

function stand(): {
  readonly engine: MemoryEngine
  readonly clock: ManualClock
  readonly talker: (share: number, epoch?: number, life?: number, shares?: number) => Talker
} {
  const clock = new ManualClock()
  const engine = MemoryEngine.create({ clock, random: new Random(1) })
  const talker = (share: number, epoch = 1, life?: number, shares = 2): Talker => {
    const client = engine.client()
    const given: Talker['given'] = []
    const wires = new EngineWires({
      engine: client,
      crawl: 'test',
      share,
      shares,
      epoch,
      clock,
      ...(life === undefined ? {} : { life }),
      onWire: (peer, wire) => {
        const heard: PeerMessage[] = []
        given.push({ peer, wire, heard })
        wire.listen((message) => void heard.push(message))
      },
    })
    return { wires, client, given }
  }
  return { engine, clock, talker }
}

const settle = async (): Promise<void> => {
  for (let i = 0; i < 3; i++) await new Promise((resolve) => void setImmediate(resolve))
}
const confirmed = (upTo: number): PeerMessage => ({ kind: 'confirmed', upTo })
const last = ({ given }: Talker): Talker['given'][number] => given.at(-1) as Talker['given'][number]

test('two agents have a wire as soon as both are there; what is said on it arrives in order', async () => {
  const { talker } = stand()
  const one = talker(0)
  await settle()
  expect(one.given).toEqual([])
  const two = talker(1)
  await settle()
  expect([one, two].map(({ given }) => given.map(({ peer }) => peer))).toEqual([[1], [0]])
  for (let i = 1; i <= 5; i++) last(one).wire.send(confirmed(i))
  last(two).wire.send({ kind: 'hello', holds: 3, last: 5 })
  await settle()
  expect(last(two).heard).toEqual([1, 2, 3, 4, 5].map(confirmed))
  expect(last(one).heard).toEqual([{ kind: 'hello', holds: 3, last: 5 }])
})

test('what is said in one turn crosses in one packet', async () => {
  const { talker } = stand()
  const [one] = [talker(0), talker(1)]
  await settle()
  const before = one.wires.figures.packets
  for (let i = 0; i < 100; i++) last(one).wire.send(confirmed(i))
  await settle()
  expect(one.wires.figures.packets).toBe(before + 1)
})

test('messages longer than a packet, texts and bytes arrive as they were', async () => {
  const { talker } = stand()
  const [one, two] = [talker(0), talker(1)]
  await settle()
  const messages: PeerMessage[] = [
    { kind: 'parcel', parcel: { number: 1, entries: randomBytes(2 ** 19).toString('hex'), originals: [] } },
    { kind: 'parcel', parcel: { number: 2, entries: '["grüß 漢"]', originals: [] } },
    {
      kind: 'errand-done',
      id: 7,
      answer: {
        kind: 'answered',
        answer: {
          url: 'http://a.test/robots.txt' as CanonicalUrl,
          status: 200,
          location: null,
          cacheControl: null,
          body: Uint8Array.from(randomBytes(20_000)),
          isCut: false,
        },
      },
    },
    { kind: 'errand-done', id: 8, answer: { kind: 'failed' } },
  ]
  for (const message of messages) last(one).wire.send(message)
  await settle()
  expect(last(two).heard).toEqual(messages)
  expect(one.wires.figures.packets).toBeGreaterThan(3)
})

test('a packet is as long as the engine takes', () => {
  expect(PACKET_BYTES_MAX).toBe(ENTRY_BYTES_MAX)
})

test('after a gap nothing more is heard on that wire, and both have another one', async () => {
  const { engine, talker } = stand()
  const [one, two] = [talker(0), talker(1)]
  await settle()
  const old = last(two)
  const say = async (upTo: number, lossRate: number): Promise<void> => {
    engine.weather.lossRate = lossRate
    last(one).wire.send(confirmed(upTo))
    await settle()
  }
  await say(1, 0)
  await say(2, 1)
  await say(3, 0)
  expect(old.heard).toEqual([confirmed(1)])
  expect(two.wires.figures.breaks.gap).toBe(1)
  expect([one.given.length, two.given.length]).toEqual([2, 2])
  await say(4, 0)
  expect(last(two).heard).toEqual([confirmed(4)])
  expect(old.heard).toEqual([confirmed(1)])
})

test('the last message of all is missed too, a second later', async () => {
  const { engine, clock, talker } = stand()
  const [one, two] = [talker(0), talker(1)]
  await settle()
  engine.weather.lossRate = 1
  last(one).wire.send(confirmed(1))
  await settle()
  engine.weather.lossRate = 0
  clock.advance(900)
  await settle()
  expect(two.given).toHaveLength(1)
  clock.advance(1_100)
  await settle()
  expect([one.given.length, two.given.length]).toEqual([2, 2])
})

test('a former owner is not heard any more, and falls silent once it hears of the other', async () => {
  const { clock, talker } = stand()
  const [one, former] = [talker(0), talker(1, 4)]
  await settle()
  const owner = talker(1, 5)
  await settle()
  expect(one.given).toHaveLength(2)
  last(former).wire.send(confirmed(9))
  last(owner).wire.send(confirmed(1))
  await settle()
  expect(one.given.map(({ heard }) => heard)).toEqual([[], [confirmed(1)]])
  const { packets } = former.wires.figures
  clock.advance(60_000)
  await settle()
  expect(former.wires.figures.packets).toBe(packets)
  expect(one.given).toHaveLength(2)
})

test('one that was owner before the present one comes too late, also where there is no wire', async () => {
  const { clock, talker } = stand()
  const one = talker(0)
  const owner = talker(1, 5)
  await settle()
  owner.wires.close()
  one.client.cut()
  one.client.restore()
  // A life that had not heard of anybody.
  const former = talker(1, 4)
  clock.advance(30_000)
  await settle()
  expect(former.given).toEqual([])
  expect(one.given).toHaveLength(1)
  expect(one.wires.figures.old).toBeGreaterThan(0)
})

test('an agent that was started again with the same epoch has a new wire', async () => {
  const { talker } = stand()
  const [one, two] = [talker(0), talker(1, 1, 10)]
  await settle()
  two.wires.close()
  const again = talker(1, 1, 9)
  await settle()
  last(again).wire.send(confirmed(1))
  await settle()
  expect(one.given.map(({ heard }) => heard)).toEqual([[], [confirmed(1)]])
  expect(one.wires.figures.breaks.renewed).toBe(1)
})

test('where the engine is away wires end, nothing is kept for it, and there are others when it is back', async () => {
  const { talker } = stand()
  const [one, two] = [talker(0), talker(1)]
  await settle()
  one.client.cut()
  expect([one.wires.joined, two.wires.joined]).toEqual([0, 1])
  const { packets } = one.wires.figures
  for (let i = 0; i < 10; i++) last(one).wire.send(confirmed(i))
  await settle()
  expect(one.wires.figures.packets).toBe(packets)
  one.client.restore()
  await settle()
  expect([one.given.length, two.given.length]).toEqual([2, 2])
  expect(two.given.map(({ heard }) => heard)).toEqual([[], []])
})

test('packets that come twice count once; what is none of ours is counted and left', async () => {
  const { engine, talker } = stand()
  const [one, two] = [talker(0), talker(1)]
  const eavesdropper = engine.client()
  const packets: Uint8Array[] = []
  eavesdropper.subscribe('wires.test.1', (bytes) => void packets.push(bytes))
  await settle()
  last(one).wire.send(confirmed(1))
  await settle()
  for (const packet of packets) eavesdropper.publish('wires.test.1', packet)
  for (const length of [0, 1, 41, 42, 100]) eavesdropper.publish('wires.test.1', new Uint8Array(length).fill(9))
  await settle()
  expect(last(two).heard).toEqual([confirmed(1)])
  expect(two.wires.figures.strange).toBe(5)
  expect(two.given).toHaveLength(1)
})

test('where nothing happens ever less is said', async () => {
  const { clock, talker } = stand()
  const [one] = [talker(0, 1, 1, 3), talker(1, 1, 2, 3)]
  await settle()
  const before = one.wires.figures.packets
  for (let i = 0; i < 100; i++) {
    clock.advance(1_000)
    await settle()
  }
  // Some thirteen to whoever is there, and as many to whoever is not.
  expect(one.wires.figures.packets - before).toBeLessThan(32)
  expect(one.given).toHaveLength(1)
})
