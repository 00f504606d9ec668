// The way to NATS: connect as whoever we are, and refuse servers that cannot do what a crawl leans on.

import { checkServerIdentity, type PeerCertificate } from 'node:tls'
import {
  type Authenticator,
  connect,
  type ConnectionOptions,
  credsAuthenticator,
  errors,
  type NatsConnection,
  nkeyAuthenticator,
  type TlsOptions,
} from '@nats-io/transport-node'
import { type ClockMs, Fault, systemClock } from '../base/index.ts'
import { ENTRY_BYTES_MAX } from './engine.ts'
import type { Layout } from './layout.ts'
import type { NatsCredentials } from './nats-credentials.ts'
import { readServerUrl } from './nats-server-url.ts'
import { codeOf, NatsLink, STREAM_NOT_FOUND } from './nats-link.ts'

export interface EngineSettings {
  /** Like `nats://host:4222`, without logins. */
  readonly servers: readonly string[]
  readonly credentials?: NatsCredentials
  readonly crawl: string
  /** Who connects, for whoever looks at the server's list of connections. */
  readonly node?: string
  readonly replicas?: 'auto' | '1' | '3' | '5'
  /** How long the first connection is tried for. */
  readonly connectMs?: number
  /** How long anything is tried for that does not say so itself. */
  readonly operationMs?: number
}

const CONNECT_MS = 10_000
/** A leader that dies is followed by another within 8 s, as measured. */
const OPERATION_MS = 10_000
const CONNECT_TRY_MS = 1_000
const RECONNECT_PAUSE_MS = 250
/** Silence of two pings is the end of a connection: lost at the latest 3 s after the wire is dead. */
const PING_EVERY_MS = 1_000
const PINGS_UNANSWERED_MAX = 2
/** An entry in base64, as the leader of a stream hands it out, with its head. */
const PAYLOAD_LEAST = Math.ceil((ENTRY_BYTES_MAX * 4) / 3) + 16 * 1024
const VERSION_LEAST = [2, 9] as const
const REPLICAS_USUAL = 3

export async function connectLink(settings: EngineSettings): Promise<NatsLink> {
  const connection = await connectFor(settings)
  return NatsLink.over(connection, settings.operationMs ?? OPERATION_MS)
}

async function connectFor(settings: EngineSettings): Promise<NatsConnection> {
  const { connectMs = CONNECT_MS } = settings
  const where = settings.servers.join(', ')
  const endMs = systemClock.nowMs() + connectMs
  for (;;) {
    try {
      return await connect(connectionOptions(settings))
    } catch (error) {
      const fault = connectFault(where, error)
      if (fault.code !== 'ENGINE_UNREACHABLE' || systemClock.nowMs() >= endMs) throw fault
    }
    await new Promise<void>(
      (resolve) => void systemClock.callAt((systemClock.nowMs() + RECONNECT_PAUSE_MS) as ClockMs, resolve),
    )
  }
}

function connectionOptions({ servers, crawl, node, credentials = {} }: EngineSettings): ConnectionOptions {
  const authenticator = authenticatorOf(credentials)
  return {
    servers: [...servers],
    name: `portolan/${crawl}${node === undefined ? '' : `/${node}`}`,
    timeout: CONNECT_TRY_MS,
    pingInterval: PING_EVERY_MS,
    maxPingOut: PINGS_UNANSWERED_MAX,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_PAUSE_MS,
    // A server whose users are just being changed lets us in again later.
    ignoreAuthErrorAbort: true,
    ...(credentials.user === undefined ? {} : { user: credentials.user }),
    ...(credentials.password === undefined ? {} : { pass: credentials.password }),
    ...(credentials.token === undefined ? {} : { token: credentials.token }),
    ...(authenticator === null ? {} : { authenticator }),
    ...(credentials.tls === undefined ? {} : { tls: tlsOptions(servers, credentials.tls) }),
  }
}

/**
 * The library knows no name of a server that is given by its address, and would ask for a certificate of `localhost`. A
 * certificate for any of the servers that were named is one of them: they are one cluster.
 */
function tlsOptions(servers: readonly string[], parts: NonNullable<NatsCredentials['tls']>): TlsOptions {
  const hosts = servers.flatMap((server) => readServerUrl(server)?.host ?? [])
  const identity = {
    checkServerIdentity: (name: string, certificate: PeerCertificate): Error | undefined => {
      const complaint = checkServerIdentity(name, certificate)
      const isNamed = hosts.some((host) => checkServerIdentity(bareHost(host), certificate) === undefined)
      return isNamed ? undefined : complaint
    },
  }
  return { ...parts, ...identity }
}

/** IPv6 stands in brackets in an address, and without them in a certificate. */
function bareHost(host: string): string {
  return host.replace(/^\[(.*)\]$/, '$1')
}

function authenticatorOf({ creds, nkeySeed }: NatsCredentials): Authenticator | null {
  if (creds !== undefined) return credsAuthenticator(creds)
  return nkeySeed === undefined ? null : nkeyAuthenticator(nkeySeed)
}

function connectFault(where: string, error: unknown): Fault {
  const message = error instanceof Error ? error.message : String(error)
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : null
  const text = cause === null ? message : `${message}: ${cause.message}`
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    return new Fault(
      'ENGINE_UNFIT',
      `${where} does not let us in (${message}); check the user, token, credentials or nkey`,
      error,
    )
  }
  const code =
    [cause, error].map((one) => (one as NodeJS.ErrnoException | null)?.code).find((one) => one !== undefined) ?? ''
  if (
    /^(?:ERR_TLS|ERR_SSL|CERT_|UNABLE_TO|DEPTH_ZERO|SELF_SIGNED)/.test(code) ||
    /certificate|\btls\b|ssl/i.test(text)
  ) {
    return new Fault('ENGINE_UNFIT', `${where}: no encrypted connection (${text}); check the certificates`, error)
  }
  return new Fault('ENGINE_UNREACHABLE', `${where}: no connection (${text})`, error)
}

/** Refuses what would fail later. On how many servers things are to be kept. */
export async function requireFitness(
  link: NatsLink,
  layout: Layout,
  replicas: NonNullable<EngineSettings['replicas']>,
): Promise<number> {
  const info = link.connection.info
  const version = info?.version ?? ''
  if (!isNewEnough(version)) {
    throw new Fault(
      'ENGINE_UNFIT',
      `nats-server ${version} is too old; a crawl needs ${VERSION_LEAST.join('.')} or later`,
    )
  }
  if ((info?.max_payload ?? 0) < PAYLOAD_LEAST) {
    throw new Fault(
      'ENGINE_UNFIT',
      `the NATS server takes messages of ${info?.max_payload} bytes at most; set max_payload to 1MB or more (least: ${PAYLOAD_LEAST})`,
    )
  }
  await requireJetStream(link)
  if (replicas !== 'auto') return Number(replicas)
  // A crawl that has begun stays as it is kept.
  const begun = await link.ask('records', async () => {
    try {
      return (await link.manager.streams.info(layout.records.stream)).config.num_replicas
    } catch (error) {
      if (codeOf(error) === STREAM_NOT_FOUND) return null
      throw error
    }
  })
  if (begun !== null) return begun
  return info?.cluster !== undefined && (info.connect_urls?.length ?? 0) >= REPLICAS_USUAL ? REPLICAS_USUAL : 1
}

async function requireJetStream(link: NatsLink): Promise<void> {
  const info = link.connection.info
  if (info?.jetstream !== true && info?.cluster === undefined) {
    throw new Fault(
      'ENGINE_UNFIT',
      'the NATS server runs without JetStream; start it with -js, or with jetstream {} in its configuration',
    )
  }
  await link.ask('JetStream', async () => {
    try {
      await link.manager.getAccountInfo()
    } catch (error) {
      // The library makes one error of two refusals; this one does not pass.
      if (error instanceof Error && /not enabled for account/i.test(error.message)) {
        throw new Fault(
          'ENGINE_UNFIT',
          'JetStream is not enabled for the NATS account of this user; enable it there',
          error,
        )
      }
      throw error
    }
  })
}

function isNewEnough(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  return major > VERSION_LEAST[0] || (major === VERSION_LEAST[0] && minor >= VERSION_LEAST[1])
}
