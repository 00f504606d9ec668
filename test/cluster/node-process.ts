// A node of a cluster as a process of its own, started by the command that a person would give. It can be killed, frozen and woken, and
// started again in its directory; what it says tells which shares it has.

import { setTimeout as sleep } from 'node:timers/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { startPortolan } from '../cli/portolan.ts'

export interface NodeEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** It had not said a word: nobody listens for signals before that. */
  readonly wasSilent: boolean
}

/** None outlives the tests, however they end. */
const running = new Set<NodeProcess>()
process.on('exit', () => {
  for (const node of running) process.kill(node.pid, 'SIGKILL')
})

export class NodeProcess {
  readonly name: string
  readonly dir: string
  /** Shares whose agents ask for it, as it said last. */
  readonly shares = new Set<number>()
  /** Everything that all its lives have said, and when, by the clock of this process. */
  readonly said: { readonly atMs: number; readonly line: string }[] = []
  /** Of all lives that are over, by their own doing or not. */
  readonly ends: NodeEnd[] = []
  #pid: number | null = null
  #isFrozen = false
  /** How much earlier lives had said. */
  #saidBefore = 0
  #ended: Promise<NodeEnd> = Promise.resolve({ code: null, signal: null, wasSilent: true })

  constructor(name: string, dir: string) {
    this.name = name
    this.dir = dir
  }

  get isRunning(): boolean {
    return this.#pid !== null
  }

  get isFrozen(): boolean {
    return this.#isFrozen
  }

  get pid(): number {
    if (this.#pid === null) throw new Error(`node ${this.name} does not run`)
    return this.#pid
  }

  /** What it has said in its present life, or its last. */
  get saidNow(): readonly string[] {
    return this.said.slice(this.#saidBefore).map(({ line }) => line)
  }

  /** Resolves when its present life is over. */
  get ended(): Promise<NodeEnd> {
    return this.#ended
  }

  /** `as`: what it says it is called, where not by its name. */
  start(servers: readonly string[], crawl: string, flags: readonly string[] = [], as = this.name): void {
    if (this.isRunning) throw new Error(`node ${this.name} runs already`)
    const { child, finished } = startPortolan([
      'node',
      ...servers.flatMap((url) => ['--join', url]),
      ...['--crawl', crawl, '--name', as, '--dir', this.dir, '--weight', '1', '--progress', 'plain'],
      ...flags,
    ])
    if (child.pid === undefined) throw new Error('no process was started')
    this.#pid = child.pid
    this.#isFrozen = false
    this.#saidBefore = this.said.length
    running.add(this)
    this.shares.clear()
    let rest = ''
    child.stderr?.on('data', (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) this.#hear(line)
    })
    this.#ended = finished.then(({ code, signal }) => {
      running.delete(this)
      this.#pid = null
      this.#isFrozen = false
      const end = { code, signal, wasSilent: this.said.length === this.#saidBefore }
      this.ends.push(end)
      return end
    })
  }

  /** Without a word, as the power cut does. Its shares stay noted as they were. */
  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL')
    await this.#ended
  }

  /** As Ctrl-C does: it gives its shares to the others and goes. */
  interrupt(): void {
    process.kill(this.pid, 'SIGINT')
  }

  /** Alive and silent. Resolves when each of its threads stands. */
  async freeze(): Promise<void> {
    process.kill(this.pid, 'SIGSTOP')
    this.#isFrozen = true
    while (this.isRunning && !this.#stands()) await sleep(1)
  }

  wake(): void {
    process.kill(this.pid, 'SIGCONT')
    this.#isFrozen = false
  }

  /** User and system time of its present life so far. */
  cpuMs(): number {
    return cpuMsOf(this.pid)
  }

  #stands(): boolean {
    try {
      return readdirSync(`/proc/${this.pid}/task`).every((task) =>
        /\) [TtZX] /.test(readFileSync(`/proc/${this.pid}/task/${task}/stat`, 'utf8')),
      )
    } catch {
      // A thread that ended meanwhile.
      return false
    }
  }

  #hear(line: string): void {
    this.said.push({ atMs: performance.now(), line })
    const [, share, what] = /^Share (\d+) (is here|is given up|was begun)/.exec(line) ?? []
    if (share === undefined) return
    if (what === 'is here') this.shares.add(Number(share))
    else this.shares.delete(Number(share))
  }
}

const TICK_MS = 10

/** User and system time of a process, its threads together. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS
}
