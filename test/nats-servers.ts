// Real NATS servers with JetStream for as long as a test lasts: one, or three that form a cluster. Each is a process that can be
// stopped, killed, frozen and started again on its port and its files; nothing is shared with other tests, not even an address.
//
//   await using nats = await startNats({ servers: 3 })
//   nats.urls                        what a client is given
//   await nats.servers[0].kill()     as the power cut does; restart() brings it back with what is on its disk
//   nats.named('n2').pause()         alive and silent; resume()
//
// `tools/test-needs.ts` has installed nats-server before any test runs.

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface NatsSettings {
  readonly servers?: 1 | 3
  /** Default yes. */
  readonly hasJetStream?: boolean
  /** Certificate and key in PEM for clients; with `ca`, clients must show a certificate of it. */
  readonly tls?: { readonly cert: string; readonly key: string; readonly ca?: string }
  /** Lines of configuration as they are: users, accounts, max_payload. */
  readonly config?: string
  /** Kept when it is given; otherwise made, and removed with the servers. */
  readonly folder?: string
}

/** How long servers may take to be ready: to elect a leader they wait for up to 9 s, on a busy machine more. */
const READY_MS = 60_000
const PROGRAMS = ['/usr/sbin/nats-server', '/usr/bin/nats-server', '/usr/local/bin/nats-server']

/** None outlives the tests, however they end. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

export class NatsServer {
  readonly name: string
  readonly url: string
  readonly #config: string
  readonly #log: string
  readonly #monitor: string
  #child: ChildProcess | null = null
  #exited: Promise<void> = Promise.resolve()

  constructor(name: string, url: string, monitor: string, config: string, log: string) {
    this.name = name
    this.url = url
    this.#monitor = monitor
    this.#config = config
    this.#log = log
  }

  get pid(): number {
    const pid = this.#child?.pid
    if (pid === undefined) throw new Error(`nats-server ${this.name} is not running`)
    return pid
  }

  get isRunning(): boolean {
    return this.#child !== null
  }

  /** What it has written, for a test that fails. */
  get logged(): string {
    return existsSync(this.#log) ? readFileSync(this.#log, 'utf8') : ''
  }

  /** Starts it; resolves when it takes connections. With three, `NatsServers.ready()` waits for their leader too. */
  async start(): Promise<void> {
    const program = PROGRAMS.find((path) => existsSync(path))
    if (program === undefined) throw new Error('nats-server is not here: run node tools/test-needs.ts')
    const child = spawn(program, ['-c', this.#config, '-l', this.#log], { stdio: 'ignore' })
    this.#child = child
    running.add(child)
    this.#exited = new Promise((resolve) => {
      child.once('exit', () => {
        running.delete(child)
        if (this.#child === child) this.#child = null
        resolve()
      })
    })
    await until(`nats-server ${this.name} to listen`, async () => {
      if (this.#child !== child) throw new Error(`nats-server ${this.name} ended:\n${this.logged.slice(-2_000)}`)
      return (await this.monitor('varz')) !== null
    })
  }

  /** In good order: it says goodbye to its clients and the others. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM')
  }

  /** Without a word. What it had not given to the kernel is lost, no more: the machine goes on. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  async restart(): Promise<void> {
    await this.stop()
    await this.start()
  }

  /** Alive and silent: its connections stay open, and nothing comes. */
  pause(): void {
    process.kill(this.pid, 'SIGSTOP')
    // The signal arrives by itself; it is silent when each of its threads stands.
    const stands = (): boolean =>
      readdirSync(`/proc/${this.pid}/task`).every((task) =>
        /\) T /.test(readFileSync(`/proc/${this.pid}/task/${task}/stat`, 'utf8')),
      )
    while (!stands());
  }

  resume(): void {
    process.kill(this.pid, 'SIGCONT')
  }

  /** What it says of itself at a path of its monitoring port; null where it does not answer. */
  async monitor(path: string): Promise<Readonly<Record<string, unknown>> | null> {
    try {
      const answer = await fetch(`${this.#monitor}/${path}`, { signal: AbortSignal.timeout(2_000) })
      return answer.ok ? ((await answer.json()) as Record<string, unknown>) : null
    } catch {
      return null
    }
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === null) return
    child.kill(signal)
    // A frozen one hears SIGTERM only when it wakes.
    if (signal === 'SIGTERM') child.kill('SIGCONT')
    await this.#exited
  }
}

/** What the monitoring port says of JetStream, as far as it is read here. */
interface JetStreamState {
  readonly account_details?: readonly {
    readonly stream_detail?: readonly { readonly name: string; readonly cluster?: { readonly leader?: string } }[]
  }[]
}

export class NatsServers implements AsyncDisposable {
  readonly servers: readonly NatsServer[]
  readonly urls: readonly string[]
  readonly folder: string
  readonly #keepsFolder: boolean
  readonly #hasJetStream: boolean

  constructor(servers: readonly NatsServer[], folder: string, settings: NatsSettings) {
    this.servers = servers
    this.urls = servers.map(({ url }) => url)
    this.folder = folder
    this.#keepsFolder = settings.folder !== undefined
    this.#hasJetStream = settings.hasJetStream ?? true
  }

  /** n1, n2, n3: the names JetStream gives for leaders, too. */
  named(name: string): NatsServer {
    const server = this.servers.find((one) => one.name === name)
    if (server === undefined) throw new Error(`there is no nats-server ${name}`)
    return server
  }

  /** The server that leads a stream now; null while there is none. */
  async leaderOf(stream: string): Promise<NatsServer | null> {
    for (const server of this.servers.filter((one) => one.isRunning)) {
      const answer = (await server.monitor('jsz?streams=true')) as JetStreamState | null
      const found = (answer?.account_details ?? [])
        .flatMap((account) => account.stream_detail ?? [])
        .find(({ name }) => name === stream)
      const leader = found?.cluster?.leader ?? ''
      if (leader !== '') return this.named(leader)
    }
    return null
  }

  /** Until every server that runs and is awake knows the leader of them all, and has caught up. */
  async ready(): Promise<void> {
    for (const server of this.servers.filter((one) => one.isRunning)) {
      await until(`nats-server ${server.name} to be ready`, async () => {
        if (!this.#hasJetStream) return true
        if (this.servers.length > 1) {
          const { meta_cluster: meta } = ((await server.monitor('jsz')) ?? {}) as {
            meta_cluster?: { leader?: string; cluster_size?: number }
          }
          if ((meta?.leader ?? '') === '' || (meta?.cluster_size ?? 0) < this.servers.length) return false
        }
        const health = await server.monitor('healthz')
        return health !== null && health['status'] === 'ok'
      })
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.servers.map((server) => server.kill()))
    if (!this.#keepsFolder) rmSync(this.folder, { recursive: true, force: true })
  }
}

export async function startNats(settings: NatsSettings = {}): Promise<NatsServers> {
  const count = settings.servers ?? 1
  const folder = settings.folder ?? mkdtempSync(join(tmpdir(), 'portolan-nats-'))
  const address = natsAddress()
  const ports = await freePorts(address, count * 3)
  const port = (index: number): number => ports[index] as number
  const routes = Array.from({ length: count }, (_, index) => `nats://${address}:${port(index * 3 + 1)}`)
  const servers = Array.from({ length: count }, (_, index) => {
    const name = `n${index + 1}`
    const own = join(folder, name)
    mkdirSync(own, { recursive: true })
    const lines = [
      `server_name: ${name}`,
      `listen: "${address}:${port(index * 3)}"`,
      `http: "${address}:${port(index * 3 + 2)}"`,
      'lame_duck_duration: "30s"',
    ]
    if (settings.hasJetStream ?? true) {
      lines.push(`jetstream { store_dir: "${join(own, 'store')}", max_memory_store: 64MB, max_file_store: 4GB }`)
    }
    if (count > 1) {
      lines.push(
        `cluster { name: portolan, listen: "${address}:${port(index * 3 + 1)}", routes: [${routes.map((one) => `"${one}"`).join(', ')}] }`,
      )
    }
    if (settings.tls !== undefined) lines.push(tlsLines(own, settings.tls))
    if (settings.config !== undefined) lines.push(settings.config)
    const config = join(own, 'nats.conf')
    writeFileSync(config, `${lines.join('\n')}\n`)
    const scheme = settings.tls === undefined ? 'nats' : 'tls'
    return new NatsServer(
      name,
      `${scheme}://${address}:${port(index * 3)}`,
      `http://${address}:${port(index * 3 + 2)}`,
      config,
      join(own, 'log'),
    )
  })
  const started = new NatsServers(servers, folder, settings)
  try {
    await Promise.all(servers.map((server) => server.start()))
    await started.ready()
  } catch (error) {
    await started[Symbol.asyncDispose]()
    throw error
  }
  return started
}

function tlsLines(folder: string, tls: NonNullable<NatsSettings['tls']>): string {
  const write = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text, { mode: 0o600 })
    return path
  }
  const ca = tls.ca === undefined ? '' : `, ca_file: "${write('ca.pem', tls.ca)}", verify: true`
  return `tls { cert_file: "${write('cert.pem', tls.cert)}", key_file: "${write('key.pem', tls.key)}"${ca} }`
}

/** Where servers of this process listen, and nobody else does: one that is down for a while finds its port free. */
export function natsAddress(): string {
  return `127.${64 + ((process.pid >> 14) & 63)}.${(process.pid >> 7) & 127}.${1 + (process.pid & 127)}`
}

async function freePorts(address: string, count: number): Promise<number[]> {
  const listening = await Promise.all(
    Array.from(
      { length: count },
      async () =>
        new Promise<ReturnType<typeof createServer>>((resolve, reject) => {
          const server = createServer().once('error', reject)
          server.listen(0, address, () => resolve(server))
        }),
    ),
  )
  const ports = listening.map((server) => (server.address() as { port: number }).port)
  await Promise.all(listening.map(async (server) => new Promise((resolve) => void server.close(resolve))))
  return ports
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const endMs = performance.now() + READY_MS
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`waited ${READY_MS / 1000} s for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
