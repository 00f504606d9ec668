// What is left of the laws when servers stop, freeze and die: everything, later.
//
// The races are few here, so that the suite stays short; PORTOLAN_ENGINE_RACES=5000 npm run engine:races holds thousands.

import { afterEach, expect, test, vi } from 'vitest'
import { raceToAppend, raceToCreate } from '../../src/engine/engine.conformance.ts'
import { connectEngine, type Engine } from '../../src/engine/index.ts'
import { type NatsServers, startNats } from '../nats-servers.ts'

const RACES = Number(process.env['PORTOLAN_ENGINE_RACES'] ?? 0)
const bytes = (text: string): Uint8Array => Buffer.from(text)

const open: AsyncDisposable[] = []
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]()
})

async function servers(count: 1 | 3): Promise<NatsServers> {
  const nats = await startNats({ servers: count })
  open.push(nats)
  return nats
}

async function client(nats: NatsServers, index = 0, operationMs = 30_000): Promise<Engine> {
  const urls = [...nats.urls.slice(index), ...nats.urls.slice(0, index)]
  const engine = await connectEngine({ servers: urls, crawl: 'faults', operationMs })
  open.push({ [Symbol.asyncDispose]: async () => engine.close() })
  return engine
}

async function eventually(check: () => void): Promise<void> {
  await vi.waitFor(check, { timeout: 120_000, interval: 5 })
}

test('a server that is started again has what it acknowledged, and whoever watched hears what came meanwhile', async () => {
  const nats = await servers(1)
  const one = await client(nats)
  const other = await client(nats)
  const states: boolean[] = []
  one.onConnection((isConnected) => states.push(isConnected))
  const records: string[] = []
  const beats: string[] = []
  await one.records.watch('view', ({ name }) => records.push(name))
  await one.watchBeats((name, value) => beats.push(`${name} ${Buffer.from(value).toString()}`))
  const log = await other.log('share.0')
  await other.records.create('view.1', bytes('1'))
  for (let at = 0; at < 50; at++) await log.append(bytes(`${at}`), at)

  await nats.servers[0]?.kill()
  await eventually(() => expect(one.isConnected).toBe(false))
  // Asked while nobody is there, answered when somebody is.
  const late = [
    other.records.create('view.2', bytes('2')),
    log.append(bytes('50'), 50),
    other.beat('node-1', bytes('alive'), 30_000),
  ]
  await nats.servers[0]?.start()
  expect(await Promise.all(late)).toEqual(['created', { kind: 'appended', at: 51 }, undefined])
  await eventually(() => {
    expect(records).toEqual(['view.1', 'view.2'])
    expect(beats).toEqual(['node-1 alive'])
  })
  expect(states).toEqual([false, true])
  const found: string[] = []
  for await (const entry of (await one.log('share.0')).read(0)) found.push(Buffer.from(entry.bytes).toString())
  expect(found).toEqual(Array.from({ length: 51 }, (_, index) => `${index}`))
})

test('a server that is silent is unreachable in time; what was asked of it may still be done when it wakes, once', async () => {
  const nats = await servers(1)
  const one = await client(nats, 0, 700)
  const other = await client(nats)
  const log = await one.log('share.0')
  const same = await other.log('share.0')
  await log.append(bytes('0'), 0)
  const told = other.records.get('view.1')
  await told
  nats.servers[0]?.pause()
  const startMs = performance.now()
  const fates = await Promise.allSettled([
    log.append(bytes('1'), 1),
    one.records.create('view.1', bytes('mine')),
    one.beat('node-1', bytes(''), 300),
    one.objects.put('snapshot', bytes('x')),
    log.last(),
  ])
  for (const fate of fates) expect(fate).toMatchObject({ status: 'rejected', reason: { code: 'ENGINE_UNREACHABLE' } })
  expect(performance.now() - startMs).toBeLessThan(3_000)
  nats.servers[0]?.resume()
  // By another connection: what was sent before the freeze is done in its own time, at most once.
  const appended = await same.append(bytes('other'), 1)
  expect(await same.last()).toBe(2)
  const entries: string[] = []
  for await (const entry of same.read(1)) entries.push(Buffer.from(entry.bytes).toString())
  expect(entries).toEqual([appended.kind === 'appended' ? 'other' : '1'])
  const created = await other.records.create('view.1', bytes('other'))
  expect(Buffer.from((await other.records.get('view.1')) ?? '').toString()).toBe(
    created === 'created' ? 'other' : 'mine',
  )
})

test('with three servers the one that leads may die: one wins each race all the same, and nothing acknowledged is lost', async () => {
  const nats = await servers(3)
  const clients = await Promise.all([0, 1, 2].map(async (index) => client(nats, index)))
  const one = clients[0] as Engine
  await raceToAppend(clients, 5, 'share.0')
  await raceToCreate(clients, 5, 'warm')
  // The busiest stream loses its leader in the middle of the races; its clients lose their server, one of them.
  const leader = await nats.leaderOf('portolan=faults=log=share=0')
  expect(leader).not.toBeNull()
  const races = [
    raceToAppend(clients, Math.max(30, RACES), 'share.0'),
    raceToCreate(clients, Math.max(30, RACES), 'view'),
  ]
  await vi.waitFor(async () => expect(await (await one.log('share.0')).last()).toBeGreaterThan(10), {
    timeout: 120_000,
    interval: 1,
  })
  await leader?.kill()
  await Promise.all(races)
  // Back, and caught up: all three agree.
  await leader?.start()
  await nats.ready()
  const last = await (await one.log('share.0')).last()
  for (const each of clients) expect(await (await each.log('share.0')).last()).toBe(last)
  expect(await one.records.list('view')).toHaveLength(Math.max(30, RACES))
}, 600_000)
