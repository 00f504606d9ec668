// What a message and an entry of a log cost the engine and its clients: CPU time by size. The simulator reckons with it.
//
//   node bench/engine-cost.ts        needs nats-server on the path
//
// One server, file storage, one copy; client and server on this machine, both ends of the messages in this process.

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { jetstream, jetstreamManager, StorageType } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'

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
const CONNECT_TRIES = 100

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function connected(port: number): Promise<NatsConnection> {
  for (let tries = 1; ; tries++) {
    try {
      return await connect({ servers: `127.0.0.1:${port}`, reconnect: false })
    } catch (error) {
      if (tries === CONNECT_TRIES) throw error
      await sleep(50)
    }
  }
}

const folder = mkdtempSync(join(tmpdir(), 'portolan-engine-cost-'))
const port = await freePort()
const server = spawn('nats-server', ['-a', '127.0.0.1', '-p', String(port), '-js', '-sd', folder], { stdio: 'ignore' })
server.on('error', (error) => {
  console.error(`nats-server cannot be started: ${error.message}; on Debian: apt-get install nats-server`)
  process.exit(1)
})

function serverUs(): number {
  const fields = (readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1] ?? '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_US
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
try {
  const [near, far] = [await connected(port), await connected(port)]
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
    manager.streams.add({ name, subjects: [`log.${name}`], storage: StorageType.File })
  const fill = async (name: string, count: number, content: Uint8Array): Promise<void> => {
    let last = 0
    for (let i = 0; i < count; i++) {
      last = (await stream.publish(`log.${name}`, content, { expect: { lastSequence: last } })).seq
    }
  }
  for (const [bytes, count] of APPENDS) {
    await makeLog(`of${bytes}`)
    costs.push(
      await costOf(`an entry of ${bytes} bytes, one log`, count, () =>
        fill(`of${bytes}`, count, new Uint8Array(bytes)),
      ),
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
} finally {
  server.kill()
  rmSync(folder, { recursive: true, force: true })
}
console.log(JSON.stringify({ bench: 'engine-cost', costs }))
