// The log of a share is its lock: who holds it, who may append, and what is found when an answer was lost.

import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fault } from '../base/index.ts'
import { type MemoryClient, MemoryEngine, type Unanswered } from '../engine/index.ts'
import { chainDigest, type PreparedBatch } from '../ledger/index.ts'
import { type BatchSet, partsOf } from './batch-set.ts'
import { HeldLog } from './held-log.ts'
import { encodeEntry } from './log-entry.ts'
import { SetReader } from './set-reader.ts'
import { type HeldShare, ShareLog } from './share-log.ts'

const ORIGIN = Buffer.alloc(16)
const quick = (): MemoryEngine => MemoryEngine.create({ operationMs: 1 })

function setOf(number: number, before: Buffer, text: string | Buffer): BatchSet & { readonly batch: PreparedBatch } {
  const body = Buffer.from(text)
  const batch = { number, body, digest: chainDigest(number, before, body) }
  const digest = batch.digest.toString('hex')
  return {
    first: number,
    last: number,
    before: before.toString('hex'),
    digest,
    batches: () => [batch],
    tails: [],
    batch,
  }
}

async function hold(engine: MemoryClient, node: string, incarnation = node): Promise<HeldShare> {
  const log = await ShareLog.open(engine, 7)
  const held = await log.begin({ node, incarnation }, await log.standing())
  if (held === null) throw new Error('somebody was quicker')
  return held
}

/** What whoever makes the share would find. */
async function batchesIn(engine: MemoryClient): Promise<PreparedBatch[]> {
  const log = await ShareLog.open(engine, 7)
  const reader = new SetReader(0, ORIGIN, async () => {})
  const found: PreparedBatch[] = []
  for await (const entry of log.read(0)) found.push(...((await reader.take(entry))?.batches ?? []))
  return found
}

test('a share that nobody has begun is free, one that was begun has an owner, one that was given up has none', async () => {
  const engine = quick().client()
  const log = await ShareLog.open(engine, 7)
  expect(await log.standing()).toMatchObject({ epoch: 0, holder: null, released: false, last: 0 })
  const held = await HeldLog.resume(engine, await hold(engine, 'a', 'first'))
  expect(await log.standing()).toMatchObject({ epoch: 1, holder: { node: 'a', incarnation: 'first' }, last: 0 })
  await held.appendBatches(setOf(1, ORIGIN, 'one'))
  expect(await log.standing()).toMatchObject({ epoch: 1, holder: { node: 'a' }, last: 1 })
  await held.release()
  expect(await log.standing()).toMatchObject({ epoch: 1, holder: null, released: true, last: 1 })
  expect(await hold(engine, 'b')).toMatchObject({ epoch: 2, last: 1 })
})

test('of two that saw the same, one begins', async () => {
  const engine = quick()
  const [a, b] = [await ShareLog.open(engine.client(), 7), await ShareLog.open(engine.client(), 7)]
  const seen = await a.standing()
  expect(await a.begin({ node: 'a', incarnation: '1' }, seen)).toMatchObject({ epoch: 1 })
  expect(await b.begin({ node: 'b', incarnation: '1' }, seen)).toBeNull()
})

test('a begin whose answer was lost is found to be ours', async () => {
  const engine = quick().client()
  const log = await ShareLog.open(engine, 7)
  engine.failNext('append', 'done')
  const holder = { node: 'a', incarnation: '1' }
  await expect(log.begin(holder, await log.standing())).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  expect(await log.begin(holder, await log.standing())).toMatchObject({ epoch: 1, at: 1 })
})

test('a former owner is refused, and told who has it', async () => {
  const engine = quick()
  const former = await HeldLog.resume(engine.client(), await hold(engine.client(), 'a'))
  await hold(engine.client(), 'b', 'second')
  const refused = former.appendBatches(setOf(1, ORIGIN, 'late'))
  await expect(refused).rejects.toMatchObject({ code: 'SHARE_LOST' })
  await expect(refused).rejects.toThrow('node b (incarnation second, epoch 2)')
  await expect(HeldLog.resume(engine.client(), { ...(await hold(engine.client(), 'c')), node: 'a' })).rejects.toThrow(
    Fault,
  )
  expect(await batchesIn(engine.client())).toEqual([])
})

test('also where the new owner has trimmed away everything that the former one knew', async () => {
  const engine = quick()
  const former = await HeldLog.resume(engine.client(), await hold(engine.client(), 'a'))
  const next = await HeldLog.resume(engine.client(), await hold(engine.client(), 'b'))
  const one = setOf(1, ORIGIN, 'one')
  await next.appendBatches(one)
  await next.appendBatches(setOf(2, one.batch.digest, 'two'))
  await next.trim(next.state.at - 1)
  await expect(former.appendBatches(one)).rejects.toMatchObject({ code: 'SHARE_LOST' })
})

test('how a share stands costs one entry, however long its log is', async () => {
  const engine = quick().client()
  const held = await HeldLog.resume(engine, await hold(engine, 'a'))
  let before: Buffer = ORIGIN
  for (let number = 1; number <= 200; number++) {
    const set = setOf(number, before, `batch ${number}`)
    await held.appendBatches(set)
    before = set.batch.digest
  }
  const log = await ShareLog.open(engine, 7)
  let entries = 0
  const read = log.log.read.bind(log.log)
  log.log.read = async function* (after) {
    for await (const entry of read(after)) {
      entries++
      yield entry
    }
  }
  expect(await log.standing()).toMatchObject({ last: 200 })
  expect(entries).toBe(1)
})

test('a batch larger than an entry stands in several, and unfinished it counts for nothing', async () => {
  const engine = quick()
  const large = Buffer.concat(Array.from({ length: 40_000 }, (_, i) => createHash('sha256').update(String(i)).digest()))
  const first = await HeldLog.resume(engine.client(), await hold(engine.client(), 'a'))
  expect(await first.appendBatches(setOf(1, ORIGIN, large))).toBe(true)
  expect(first.state.at).toBeGreaterThan(4)
  expect((await batchesIn(engine.client()))[0]?.body.equals(large)).toBe(true)
  // The last part is lost with its owner; the next one writes another batch of that number.
  engine.forgetTail('share-7', 1)
  const next = await HeldLog.resume(engine.client(), await hold(engine.client(), 'b'))
  expect(next.state.last).toBe(0)
  await next.appendBatches(setOf(1, ORIGIN, 'small'))
  expect((await batchesIn(engine.client())).map(({ body }) => body.toString())).toEqual(['small'])
})

test('what the engine has lost is noticed after the connection was lost, also where others have filled the gap', async () => {
  const engine = quick()
  const client = engine.client()
  const held = await HeldLog.resume(client, await hold(client, 'a'))
  const one = setOf(1, ORIGIN, 'one')
  const two = setOf(2, one.batch.digest, 'two')
  await held.appendBatches(one)
  await held.appendBatches(two)
  engine.forgetTail('share-7', 1)
  client.cut()
  client.restore()
  expect(await held.appendBatches(setOf(3, two.batch.digest, 'three'))).toBe(false)
  expect(held.state.last).toBe(1)
  expect(held.losses).toBe(1)
  await held.appendBatches(two)
  // As many entries by another as were lost.
  engine.forgetTail('share-7', 2)
  const other = await HeldLog.resume(engine.client(), await hold(engine.client(), 'b'))
  expect(other.state.at).toBe(held.state.at)
  client.cut()
  client.restore()
  await expect(held.appendBatches(setOf(3, two.batch.digest, 'three'))).rejects.toMatchObject({ code: 'SHARE_LOST' })
})

test('what a former owner got into the log after all counts for nobody, and the owner steps over it', async () => {
  const engine = quick()
  const client = engine.client()
  const former = await HeldLog.resume(engine.client(), await hold(engine.client(), 'a'))
  const owner = await HeldLog.resume(client, await hold(client, 'b'))
  const one = setOf(1, ORIGIN, 'one')
  await owner.appendBatches(one)
  // At exactly the place that it should not have known.
  const log = await client.log('share-7')
  const { at, ...state } = owner.state
  const head = { epoch: former.epoch, node: 'a', incarnation: 'a', after: at, ...state, last: 1, digest: 'ff' } as const
  const payloads = await Array.fromAsync(partsOf(setOf(1, ORIGIN, 'stray')))
  const batch = { kind: 'batch', part: 0, isLast: true, first: 1, before: ORIGIN.toString('hex') } as const
  await log.append(encodeEntry({ ...head, ...batch }, payloads[0] ?? Buffer.alloc(0)), at)
  for (const [number, text] of [
    [2, 'two'],
    [3, 'three'],
  ] as const) {
    const before = Buffer.from(owner.state.digest, 'hex')
    expect(await owner.appendBatches(setOf(number, before, text))).toBe(true)
    client.cut()
    client.restore()
  }
  expect((await batchesIn(client)).map(({ body }) => body.toString())).toEqual(['one', 'two', 'three'])
  expect(owner.losses).toBe(0)
})

test('two that fight for a share: of each number at most one batch is ever acknowledged, and that is the one that is found', async () => {
  const step = fc.record({
    who: fc.nat(1),
    what: fc.constantFrom('take', 'batch', 'batch', 'batch', 'resume'),
    fails: fc.option(fc.constantFrom<Unanswered>('not-done', 'done', 'done-later'), { nil: null, freq: 2 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const engine = quick()
      const clients = [engine.client(), engine.client()]
      const holding: (HeldLog | null)[] = [null, null]
      const shares: (HeldShare | null)[] = [null, null]
      const acknowledged = new Map<number, string>()
      let lives = 0
      for (const [index, { who, what, fails }] of steps.entries()) {
        const client = clients[who]
        if (client === undefined) continue
        if (fails !== null) client.failNext('append', fails)
        try {
          if (what === 'take') {
            const log = await ShareLog.open(client, 7)
            const held = await log.begin({ node: `n${who}`, incarnation: `i${++lives}` }, await log.standing())
            shares[who] = held
            holding[who] = held === null ? null : await HeldLog.resume(client, held)
          }
          const share = shares[who] ?? null
          if (what === 'resume' && share !== null) holding[who] = await HeldLog.resume(client, share)
          const held = holding[who] ?? null
          if (what !== 'batch' || held === null) continue
          const { last, digest } = held.state
          const set = setOf(last + 1, last === 0 ? ORIGIN : Buffer.from(digest, 'hex'), `${who} at ${index}`)
          const isThere = await held.appendBatches(set).catch((fault: unknown) => {
            if (!(fault instanceof Fault) || fault.code !== 'ENGINE_UNREACHABLE') throw fault
            return held.appendBatches(set)
          })
          if (!isThere) continue
          expect(acknowledged.has(set.last)).toBe(false)
          acknowledged.set(set.last, set.digest)
        } catch (fault) {
          if (!(fault instanceof Fault) || !['SHARE_LOST', 'ENGINE_UNREACHABLE'].includes(fault.code)) throw fault
          holding[who] = null
        }
      }
      const found = await batchesIn(engine.client())
      for (const [number, digest] of acknowledged) {
        expect(found[number - 1]?.digest.toString('hex'), `batch ${number}`).toBe(digest)
      }
    }),
    { numRuns: 300 },
  )
})
