// How quick are the engine's servers, how long do they say nothing when the one that leads dies, and which of their promises
// race? One server and three, on this machine.
//
//   node bench/engine.ts                            latency, throughput, one death of a leader
//   node bench/engine.ts --deaths 10                more deaths
//   node bench/engine.ts --races 2000               also the races: what we lean on, and what we do not because of them
//   node bench/engine.ts --races 2000 --kill        with a leader killed again and again
//
// Figures are wall time as a client sees it, beside whatever else the machine does.

import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { jetstream, JetStreamApiError, jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { connectEngine, type Engine } from '../src/engine/index.ts'
import { type NatsServers, startNats } from '../test/nats-servers.ts'

const { values } = parseArgs({
  options: {
    deaths: { type: 'string' },
    races: { type: 'string' },
    kill: { type: 'boolean' },
    servers: { type: 'string' },
  },
})
const DEATHS = Number(values.deaths ?? 1)
const RACES = Number(values.races ?? 0)
const COUNTS = values.servers === undefined ? ([1, 3] as const) : ([Number(values.servers) as 1 | 3] as const)
const APPENDS = 300
const MESSAGES = 2_000
const OBJECT_BYTES = 64 * 1024 * 1024
const RACERS = 3
const KILL_EVERY_MS = 2_000

function spread(times: number[]): { p50: number; p99: number; max: number } {
  times.sort((a, b) => a - b)
  const at = (part: number): number => Number((times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(2))
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now()
  await act()
  return performance.now() - startMs
}

function say(figures: Readonly<Record<string, unknown>>): void {
  console.log(JSON.stringify({ bench: 'engine', ...figures, load: Number((loadavg()[0] ?? 0).toFixed(1)) }))
}

async function appends(engine: Engine, servers: number): Promise<void> {
  for (const kib of [1, 10, 100]) {
    const log = await engine.log(`size-${kib}`)
    const bytes = Buffer.alloc(kib * 1024, 'x')
    const times: number[] = []
    const seconds =
      (await timed(async () => {
        for (let at = 0; at < APPENDS; at++) times.push(await timed(async () => log.append(bytes, at)))
      })) / 1000
    const readMs = await timed(async () => {
      for await (const entry of log.read(0)) entry.bytes.at(0)
    })
    say({
      what: `append ${kib} KiB`,
      servers,
      ms: spread(times),
      appendsPerSecond: Math.round(APPENDS / seconds),
      readPerSecond: Math.round(APPENDS / (readMs / 1000)),
    })
  }
}

async function manyLogs(engine: Engine, servers: number): Promise<void> {
  const logs = await Promise.all(Array.from({ length: 16 }, async (_, index) => engine.log(`share.${index}`)))
  const bytes = Buffer.alloc(10 * 1024, 'x')
  const seconds =
    (await timed(async () =>
      Promise.all(
        logs.map(async (log) => {
          for (let at = 0; at < 50; at++) await log.append(bytes, at)
        }),
      ),
    )) / 1000
  say({ what: 'append 10 KiB, 16 logs at once', servers, appendsPerSecond: Math.round((16 * 50) / seconds) })
}

async function small(engine: Engine, other: Engine, servers: number): Promise<void> {
  const beats: number[] = []
  for (let beat = 0; beat < APPENDS; beat++) {
    beats.push(await timed(async () => engine.beat('node', Buffer.from('x'), 5_000)))
  }
  say({ what: 'beat', servers, ms: spread(beats) })
  const creates: number[] = []
  for (let name = 0; name < APPENDS; name++) {
    creates.push(await timed(async () => engine.records.create(`made.${name}`, Buffer.from('x'))))
  }
  say({ what: 'create', servers, ms: spread(creates) })
  await other.serve({ kind: 'echo', name: 'far', version: '1.0.0' }, async (question) => question)
  await new Promise((resolve) => setTimeout(resolve, 500))
  const calls: number[] = []
  for (let call = 0; call < APPENDS; call++) {
    calls.push(await timed(async () => engine.call('echo', 'far', Buffer.alloc(1_000), 5_000)))
  }
  say({ what: 'call and answer, 1 kB', servers, ms: spread(calls) })
  let heard = 0
  let done = (): void => undefined
  other.subscribe('flood', () => {
    if (++heard === MESSAGES) done()
  })
  await new Promise((resolve) => setTimeout(resolve, 500))
  const bytes = Buffer.alloc(10_000)
  const seconds =
    (await timed(
      async () =>
        new Promise<void>((resolve) => {
          done = resolve
          for (let message = 0; message < MESSAGES; message++) engine.publish('flood', bytes)
        }),
    )) / 1000
  say({ what: 'messages of 10 kB', servers, perSecond: Math.round(MESSAGES / seconds) })
}

async function objects(engine: Engine, other: Engine, servers: number): Promise<void> {
  const bytes = Buffer.alloc(OBJECT_BYTES, 'portolan')
  const putMs = await timed(async () => engine.objects.put('snapshot', bytes))
  const getMs = await timed(async () => {
    for await (const piece of other.objects.get('snapshot')) piece.at(0)
  })
  const perSecond = (ms: number): number => Math.round(OBJECT_BYTES / 1e6 / (ms / 1000))
  say({ what: 'object of 64 MiB', servers, putMBPerSecond: perSecond(putMs), getMBPerSecond: perSecond(getMs) })
}

/** How long the first append takes after the leader of its log was killed. */
async function deaths(nats: NatsServers, engine: Engine): Promise<void> {
  const log = await engine.log('mourned')
  const times: number[] = []
  for (let death = 0; death < DEATHS; death++) {
    await log.append(Buffer.from('x'), await log.last())
    const leader = await nats.leaderOf('portolan=bench=log=mourned')
    if (leader === null) throw new Error('nobody leads')
    const last = await log.last()
    await leader.kill()
    times.push(await timed(async () => log.append(Buffer.from('y'), last)))
    await leader.start()
    await nats.ready()
  }
  say({ what: 'first append after the death of its leader', servers: 3, deaths: DEATHS, ms: spread(times) })
}

type Attempt = (client: number, place: number, race: number) => Promise<boolean>

/** How often more than one was told that it had won, and how often nobody was (both may be right after a death). */
async function races(what: string, servers: number, placeNow: () => Promise<number>, attempt: Attempt): Promise<void> {
  let doubles = 0
  let nobody = 0
  let unanswered = 0
  for (let race = 0; race < RACES; race++) {
    const place = await placeNow()
    const fates = await Promise.allSettled(
      Array.from({ length: RACERS }, async (_, client) => attempt(client, place, race)),
    )
    const winners = fates.filter((fate) => fate.status === 'fulfilled' && fate.value).length
    const lost = fates.filter((fate) => fate.status === 'rejected').length
    if (winners > 1) doubles++
    if (winners === 0 && lost === 0) nobody++
    if (lost > 0) unanswered++
  }
  say({
    what: `races: ${what}`,
    servers,
    races: RACES,
    twoWinners: doubles,
    nobody,
    unanswered,
    killed: values.kill === true,
  })
}

async function allRaces(nats: NatsServers, servers: number): Promise<void> {
  const connections = await Promise.all(
    Array.from({ length: RACERS }, async (_, index) =>
      connect({ servers: [nats.urls[index % servers] ?? ''], maxReconnectAttempts: -1, reconnectTimeWait: 100 }),
    ),
  )
  const clients = connections.map((connection) => jetstream(connection, { timeout: 1_500 }))
  const manager = await jetstreamManager(connections[0] as (typeof connections)[number])
  await manager.streams.add({ name: 'RACES', subjects: ['races.>'], num_replicas: servers, max_msgs_per_subject: 1 })
  await manager.streams.add({ name: 'PLACES', subjects: ['places'], num_replicas: servers, allow_direct: true })
  const isWinner = async (client: number, subject: string, expect: object): Promise<boolean> => {
    try {
      await clients[client]?.publish(subject, `${client}`, { expect })
      return true
    } catch (error) {
      if (error instanceof JetStreamApiError && error.code === 10_071) return false
      throw error
    }
  }
  const over = new AbortController()
  let kills = 0
  const killing = (async () => {
    for (;;) {
      await new Promise((resolve) => setTimeout(resolve, KILL_EVERY_MS))
      if (values.kill !== true || servers === 1 || over.signal.aborted) return
      const leader = await nats.leaderOf(Math.random() < 0.5 ? 'RACES' : 'PLACES')
      if (leader === null) continue
      await leader.kill()
      kills++
      await leader.start()
      await nats.ready()
    }
  })()
  const lastOf = async (stream: string, subject?: string): Promise<number> => {
    for (;;) {
      try {
        if (subject === undefined) return (await manager.streams.info(stream)).state.last_seq
        return (await manager.streams.getMessage(stream, { last_by_subj: subject }))?.seq ?? 0
      } catch {
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  }
  await races(
    'create a name (leant on)',
    servers,
    async () => 0,
    async (client, place, race) => isWinner(client, `races.new.${race}`, { lastSubjectSequence: place }),
  )
  await races(
    'append at a place (leant on)',
    servers,
    async () => lastOf('PLACES'),
    async (client, place) => isWinner(client, 'places', { lastSequence: place }),
  )
  await races(
    'change by revision (not leant on)',
    servers,
    async () => lastOf('RACES', 'races.same'),
    async (client, place) => isWinner(client, 'races.same', { lastSubjectSequence: place }),
  )
  over.abort()
  if (values.kill === true) await killing
  let staleDirect = 0
  let staleLeader = 0
  const reader = await jetstreamManager(connections[1] as (typeof connections)[number], { checkAPI: false })
  for (let read = 0; read < RACES; read++) {
    const seq = (await clients[0]?.publish('places', 'x').catch(() => null))?.seq
    if (seq === undefined) continue
    const [direct, leader] = await Promise.all([
      reader.direct.getMessage('PLACES', { seq }).catch(() => undefined),
      reader.streams.getMessage('PLACES', { seq }).catch(() => undefined),
    ])
    if (direct === null) staleDirect++
    if (leader === null) staleLeader++
  }
  say({ what: 'reads that missed what was acknowledged before', servers, reads: RACES, staleDirect, staleLeader })
  say({ what: 'leaders killed during all of these', servers, kills })
  await Promise.all(connections.map(async (connection) => connection.close()))
}

for (const servers of COUNTS) {
  await using nats = await startNats({ servers })
  if (RACES > 0) {
    await allRaces(nats, servers)
    continue
  }
  const client = async (index: number): Promise<Engine> =>
    connectEngine({ servers: [nats.urls[index % servers] ?? ''], crawl: 'bench', operationMs: 30_000 })
  const one = await client(0)
  const other = await client(1)
  await appends(one, servers)
  await manyLogs(one, servers)
  await small(one, other, servers)
  await objects(one, other, servers)
  if (servers === 3) await deaths(nats, one)
  await one.close()
  await other.close()
}
