// What the twin can do beside keeping the laws: it breaks when it is told to, and only then.

import { expect, test } from 'vitest'
import { ManualClock, Random } from '../base/index.ts'
import { MemoryEngine } from './memory-engine.ts'

const bytes = (text: string): Uint8Array => Buffer.from(text)

/** Lets everything go on that waits for nothing but its turn. */
async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await Promise.resolve()
}

function stand() {
  const clock = new ManualClock()
  const engine = MemoryEngine.create({ clock, random: new Random(7), operationMs: 10_000 })
  return { clock, engine, one: engine.client(), other: engine.client() }
}

test('an operation of a client that is cut off fails in its time, and not before', async () => {
  const { clock, one, other } = stand()
  one.cut()
  let fate = 'open'
  const reading = one.records.get('view.1').then(
    () => (fate = 'answered'),
    (error: { code: string }) => (fate = error.code),
  )
  await settle()
  clock.advance(9_999)
  await settle()
  expect(fate).toBe('open')
  clock.advance(1)
  await reading
  expect(fate).toBe('ENGINE_UNREACHABLE')
  expect(await other.records.get('view.1')).toBeNull()
})

test('what waits while a client is cut off is done when it is restored', async () => {
  const { one, other } = stand()
  one.cut()
  const creating = one.records.create('view.1', bytes('mine'))
  await settle()
  expect(await other.records.get('view.1')).toBeNull()
  one.restore()
  expect(await creating).toBe('created')
})

test('a watch tells what was missed, once, in order, after it was cut off', async () => {
  const { one, other } = stand()
  const heard: string[] = []
  await one.records.watch('view', ({ name }) => heard.push(name))
  await other.records.create('view.1', bytes(''))
  await settle()
  one.cut()
  await other.records.create('view.2', bytes(''))
  await other.records.create('viewer.1', bytes(''))
  await other.records.create('view.3', bytes(''))
  await settle()
  expect(heard).toEqual(['view.1'])
  one.restore()
  await settle()
  expect(heard).toEqual(['view.1', 'view.2', 'view.3'])
})

test('beats missed while cut off are told as the last of each name', async () => {
  const { one, other } = stand()
  const heard: string[] = []
  await other.beat('a', bytes('0'), 1_000)
  await one.watchBeats((name, value, isPast) =>
    heard.push(`${name}${Buffer.from(value).toString()}${isPast ? ' past' : ''}`),
  )
  one.cut()
  await other.beat('a', bytes('1'), 1_000)
  await other.beat('b', bytes('1'), 1_000)
  await other.beat('a', bytes('2'), 1_000)
  one.restore()
  await settle()
  expect(heard).toEqual(['a0 past', 'b1', 'a2'])
})

test.each([
  ['not-done', 0],
  ['done', 1],
  ['done-later', 1],
] as const)('an append whose answer is lost fails, and was %s', async (how, last) => {
  const { clock, one, other } = stand()
  const log = await one.log('share.0')
  one.failNext('append', how)
  const appending = expect(log.append(bytes('x'), 0)).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  await settle()
  clock.advance(10_000)
  await appending
  await settle()
  expect(await (await other.log('share.0')).last()).toBe(last)
})

test('a create that is done twice because its answer was lost finds its own record', async () => {
  const { one } = stand()
  one.failNext('create', 'retried')
  expect(await one.records.create('view.1', bytes('mine'))).toBe('exists')
  expect(Buffer.from((await one.records.get('view.1')) ?? '').toString()).toBe('mine')
})

test('messages are lost as often as asked, late as asked, and never overtake each other', async () => {
  const { clock, engine, one, other } = stand()
  const heard: number[] = []
  other.subscribe('wire.*', (message) => heard.push(Number(Buffer.from(message).toString())))
  engine.weather.lossRate = 0.5
  engine.weather.delayMs = [10, 100]
  for (let i = 0; i < 1_000; i++) one.publish('wire.1', bytes(String(i)))
  await settle()
  clock.advance(9)
  expect(heard).toEqual([])
  clock.advance(91)
  expect(heard).toEqual([...heard].sort((a, b) => a - b))
  expect(heard.length + engine.messagesLost).toBe(1_000)
  expect(heard.length).toBeGreaterThan(400)
  expect(engine.messagesLost).toBeGreaterThan(400)
})

test('a log that lost its tail goes on from where it now ends', async () => {
  const { engine, one } = stand()
  const log = await one.log('share.0')
  for (let i = 0; i < 5; i++) await log.append(bytes(String(i)), i)
  engine.forgetTail('share.0', 2)
  expect(await log.last()).toBe(3)
  expect(await log.append(bytes('again'), 5)).toEqual({ kind: 'refused', last: 3 })
  expect(await log.append(bytes('again'), 3)).toEqual({ kind: 'appended', at: 4 })
})

test('what was handed over is no longer what its sender does with the buffer', async () => {
  const { one, other } = stand()
  const buffer = Buffer.from('before')
  const heard: string[] = []
  other.subscribe('wire', (message) => heard.push(Buffer.from(message).toString()))
  const log = await one.log('share.0')
  await log.append(buffer, 0)
  await one.records.create('view.1', buffer)
  one.publish('wire', buffer)
  buffer.write('after!')
  await settle()
  for await (const entry of log.read(0)) expect(Buffer.from(entry.bytes).toString()).toBe('before')
  const record = (await one.records.get('view.1')) ?? bytes('')
  expect(Buffer.from(record).toString()).toBe('before')
  record.fill(0)
  expect(await one.records.get('view.1')).toEqual(new Uint8Array(bytes('before')))
  expect(heard).toEqual(['before'])
})

test('a slow client is answered late, and not at all when that is too late', async () => {
  const { clock, one } = stand()
  one.slowMs = 400
  let fate = 'open'
  void one.beat('a', bytes(''), 500).then(() => (fate = 'beaten'))
  await settle()
  clock.advance(200)
  await settle()
  clock.advance(199)
  await settle()
  expect(fate).toBe('open')
  clock.advance(1)
  await settle()
  expect(fate).toBe('beaten')
  const late = expect(one.beat('a', bytes(''), 300)).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  clock.advance(300)
  await late
})
