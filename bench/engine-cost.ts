// What a message and an entry of a log cost the engine and its clients: CPU time by size. The simulator reckons with it.
//
//   node bench/engine-cost.ts [--servers 3]
//
// One server and one copy of each entry, or three with three copies; CPU time of all servers together. Everything is on this machine,
// both ends of the messages in this process: what is said between machines costs more by the network, not by the clock of a processor.

import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import { startNats } from '../test/nats-servers.ts'

const { values } = parseArgs({ options: { servers: { type: 'string', default: '1' } } })
const copies = values.servers === '3' ? 3 : 1
const MESSAGES = [
  [100, 40_000],
  [1_000, 40_000],
  [16_000, 6_000],
  [200_000, 400],
] as const
const AT_ONCE = 50
const APPENDS = [
  [1_000, 2_000],
  [16_000, 1_500],
  [100_000, 300],
  [400_000, 100],
] as const
const LOGS = 64
const APPENDS_EACH = 50
const LOG_ENTRY_BYTES = 16_000
/** Of /proc: a tick is a hundredth of a second. */
const TICK_US = 10_000

await using nats = await startNats({ servers: copies })

function serverUs(): number {
  let ticks = 0
  for (const { pid } of nats.servers) {
    const fields = (readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ')
    ticks += Number(fields[11]) + Number(fields[12])
  }
  return ticks * TICK_US
}

function ownUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

interface Cost {
  readonly name: string
  readonly clientUs: number
  readonly serverUs: number
}

async function costOf(name: string, count: number, run: () => Promise<void>): Promise<Cost> {
  const [own, its] = [ownUs(), serverUs()]
  await run()
  const cost = { name, clientUs: (ownUs() - own) / count, serverUs: (serverUs() - its) / count }
  console.log(
    `${name}: ${cost.clientUs.toFixed(1)} µs of CPU time at clients, ${cost.serverUs.toFixed(1)} at the server`,
  )
  return cost
}

const costs: Cost[] = []
const [near, far] = await Promise.all([
  connect({ servers: nats.urls.slice(0, 1) }),
  connect({ servers: nats.urls.slice(-1) }),
])
for (const [bytes, count] of MESSAGES) {
  let heard = 0
  let onHeard = (): void => {}
  const subscription = far.subscribe('message', {
    callback: () => {
      heard++
      onHeard()
    },
  })
  await far.flush()
  const content = new Uint8Array(bytes)
  const sendAll = async (): Promise<void> => {
    for (let sent = 0; sent < count;) {
      for (let i = 0; i < AT_ONCE && sent < count; i++, sent++) near.publish('message', content)
      await new Promise<void>((resolve) => {
        onHeard = () => {
          if (heard >= sent) resolve()
        }
        onHeard()
      })
    }
  }
  costs.push(await costOf(`a message of ${bytes} bytes, both ends`, count, sendAll))
  subscription.unsubscribe()
}

const manager = await jetstreamManager(near)
const stream = jetstream(near)
const makeLog = (name: string): Promise<unknown> =>
  manager.streams.add({ name, subjects: [`log.${name}`], storage: StorageType.File, num_replicas: copies })
const fill = async (name: string, count: number, content: Uint8Array): Promise<void> => {
  let last = 0
  for (let i = 0; i < count; i++) {
    last = (await stream.publish(`log.${name}`, content, { expect: { lastSequence: last } })).seq
  }
}
for (const [bytes, count] of APPENDS) {
  await makeLog(`of${bytes}`)
  costs.push(
    await costOf(`an entry of ${bytes} bytes, one log`, count, () => fill(`of${bytes}`, count, new Uint8Array(bytes))),
  )
}
for (let log = 0; log < LOGS; log++) await makeLog(`log${log}`)
costs.push(
  await costOf(`an entry of ${LOG_ENTRY_BYTES} bytes, ${LOGS} logs at once`, LOGS * APPENDS_EACH, async () => {
    const content = new Uint8Array(LOG_ENTRY_BYTES)
    await Promise.all(Array.from({ length: LOGS }, (_, log) => fill(`log${log}`, APPENDS_EACH, content)))
  }),
)
await near.close()
await far.close()
console.log(JSON.stringify({ bench: 'engine-cost', servers: copies, costs }))
