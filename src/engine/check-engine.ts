// A closer look at an engine, before a crawl leans on it: what it is, how much room it has, how quick it is, and whether the two
// things race that must not. Takes less than a second where the servers are well; leaves nothing behind.
//
// A short probe cannot prove that there are no races (test/engine holds thousands, with servers dying); it does find servers
// that ignore what an append or a create states, or a proxy that answers for them.

import { headers, nuid } from '@nats-io/transport-node'
import { Fault, systemClock } from '../base/index.ts'
import { layoutOf } from './layout.ts'
import { connectLink, type EngineSettings, requireFitness } from './nats-connect.ts'
import { codeOf, type NatsLink, WRONG_LAST_SEQUENCE } from './nats-link.ts'
import { ID_HEADER } from './nats-stream.ts'

const PROBE_CLIENTS = 3
const PROBE_RACES = 20
/** Records, beats and objects. */
const STREAMS_BESIDE_LOGS = 3

export interface EngineReport {
  readonly version: string
  /** The name of the cluster of servers; null for one alone. */
  readonly cluster: string | null
  readonly servers: readonly string[]
  readonly isEncrypted: boolean
  readonly replicas: number
  /** Bytes the account may keep, and keeps; null for no limit but the disk. */
  readonly storageMax: number | null
  readonly storageUsed: number
  readonly streamsMax: number | null
  readonly streams: number
  /** Of an append until it is acknowledged. */
  readonly medianMs: number
  readonly races: number
}

/** Fails with ENGINE_UNFIT or ENGINE_FULL where a crawl of so many logs could not be kept there. */
export async function checkNats(settings: EngineSettings, logs: number): Promise<EngineReport> {
  const layout = layoutOf(settings.crawl)
  const links: NatsLink[] = []
  try {
    for (let index = 0; index < PROBE_CLIENTS; index++) links.push(await connectLink(settings))
    const link = links[0] as NatsLink
    const replicas = await requireFitness(link, layout, settings.replicas ?? 'auto')
    const account = await link.ask('JetStream', async () => link.manager.getAccountInfo())
    const { max_storage: storageMax, max_streams: streamsMax } = account.limits
    const begun = await link.ask('streams', async () => {
      let count = 0
      for await (const name of link.manager.streams.names()) if (name.startsWith(`${layout.prefix}=`)) count++
      return count
    })
    const wanted = Math.max(0, logs + STREAMS_BESIDE_LOGS - begun)
    if (streamsMax > 0 && account.streams + wanted > streamsMax) {
      throw new Fault(
        'ENGINE_FULL',
        `the NATS account may have ${streamsMax} streams and has ${account.streams}; this crawl needs ${wanted} more: allow them (max_streams), or cut the crawl into fewer shares`,
      )
    }
    const medianMs = await probe(links, `${layout.prefix}=probe=${nuid.next()}`, replicas)
    const info = link.connection.info
    return {
      version: info?.version ?? '',
      cluster: info?.cluster ?? null,
      servers: info?.connect_urls ?? [link.connection.getServer()],
      isEncrypted: info?.tls_required === true,
      replicas,
      storageMax: storageMax > 0 ? storageMax : null,
      storageUsed: account.storage,
      streamsMax: streamsMax > 0 ? streamsMax : null,
      streams: account.streams,
      medianMs,
      races: PROBE_RACES * 2,
    }
  } finally {
    await Promise.all(links.map(async (link) => link.close()))
  }
}

/** Races on a stream of their own, for places and for names. The median time of the winners. */
async function probe(links: readonly NatsLink[], stream: string, replicas: number): Promise<number> {
  const link = links[0] as NatsLink
  // A subject nobody else has: with it, the probe needs no more rights than the crawl.
  const subject = stream.replaceAll('=', '.')
  const config = { name: stream, subjects: [`${subject}.>`], num_replicas: replicas }
  await link.ask('probe', async () => link.manager.streams.add(config))
  try {
    const times: number[] = []
    const race = async (what: string, name: string, expect: object): Promise<void> => {
      const startMs = systemClock.nowMs()
      const answers = await Promise.all(links.map(async (one) => isWinner(one, name, expect)))
      times.push(systemClock.nowMs() - startMs)
      const winners = answers.filter((answer) => answer).length
      if (winners === 1) return
      throw new Fault(
        'ENGINE_UNFIT',
        `of ${links.length} who ${what} at once ${winners} were told that they did; this engine cannot be leant on`,
      )
    }
    for (let index = 0; index < PROBE_RACES; index++) {
      await race('append at one place', `${subject}.place`, { lastSequence: index * 2 })
      await race('create one name', `${subject}.name.${index}`, { lastSubjectSequence: 0 })
    }
    return times.sort((a, b) => a - b)[times.length >> 1] ?? 0
  } finally {
    await link.ask('probe', async () => link.manager.streams.delete(stream)).catch(() => undefined)
  }
}

async function isWinner(link: NatsLink, subject: string, expect: object): Promise<boolean> {
  return link.ask('probe', async () => {
    const head = headers()
    head.set(ID_HEADER, nuid.next())
    try {
      await link.jetStream.publish(subject, 'probe', { headers: head, expect })
      return true
    } catch (error) {
      if (codeOf(error) === WRONG_LAST_SEQUENCE) return false
      throw error
    }
  })
}
