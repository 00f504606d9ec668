// An agent as its node sees it: a thread that is started, told what to do, and heard.

import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { AgentOrders, AgentStatus, FromAgent, ToAgent } from './agent-messages.ts'
import { LOOKS_MAX } from './watchdog.ts'

export interface AgentEvents {
  /** Everything an agent says, in order. */
  readonly onMessage: (agent: number, message: FromAgent) => void
  /** Its thread has ended by itself, and why, as far as that is known. */
  readonly onDeath: (agent: number, why: string) => void
}

/**
 * A third of it is the most that young objects take at once. Small enough for the caches behind the processor's own: with twice as much a
 * page took 7 % more CPU (51,200 pages, 341, 254, 303, 269, 268 µs beside 320, 254, 268, 241, 258, in turn); with V8's own bound on large
 * machines a crawl of 25,000 pages took 390 MB, with 48 here 310. A space that cannot grow at all has twelve times as many collections, and takes a fifth more CPU.
 * Bounded here, for each thread: flags of V8 that would are of the whole process.
 */
const YOUNG_MB = 24
/**
 * What an agent may take before V8 looks for garbage among its old objects for the first time. It has 15 to 25 MB at work, and V8, left to itself, marked all of
 * them four times in the first second and ten times more in 51,200 pages: 4 to 5 % of the CPU (decision 0055). 48 gain next to nothing.
 */
const HEAP_BEGINS_MIB = 64
/** With less, an agent's heap is as V8 likes it: what it gains would be garbage that the budget has no room for. */
const ROOMY_BYTES = 2 ** 29
const LET_GO_MS = 30_000
/**
 * A thread that is to be gone is told so and ends between two rounds of its loop; one that does not in this time is ended in the middle of
 * whatever it does. Where that is the making of a codec, Node aborts the whole process ("close before init"; seen once with zstd).
 */
const MERCY_MS = 1_000
/** Of this code: `ts` as sources, `js` compiled, `cjs` in a bundle. */
const ENDING = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
const IS_SOURCE = ENDING === '.ts'
/** Beside the launcher: two folders up from the sources, three where this file is compiled or in a bundle. */
const THREAD = new URL(IS_SOURCE ? '../../bin/agent.js' : '../../../bin/agent.js', import.meta.url)
/** The code of an agent, from where this code is. */
const CODE = new URL(IS_SOURCE ? './agent-thread.ts' : `../supervise/agent-thread${ENDING}`, import.meta.url)

export class AgentHandle {
  readonly agent: number
  readonly #worker: Worker
  #status: AgentStatus | null
  #isLetGo = false
  #isKilled = false
  #isGone = false
  #ending: Promise<unknown> | null = null
  /** Looks at it since it was killed. */
  #looks = 0

  /** `status`: what an earlier thread of the agent said last. */
  constructor(orders: AgentOrders, status: AgentStatus | null, events: AgentEvents) {
    this.agent = orders.agent
    this.#status = status
    // A flag of the process, read when a heap is made, and taken back by the thread in its first line: there is no other way to say it.
    const isRoomy = orders.settings.agent.memory / orders.agents >= ROOMY_BYTES
    if (isRoomy) setFlagsFromString(`--initial-old-space-size=${HEAP_BEGINS_MIB}`)
    this.#worker = new Worker(THREAD, {
      workerData: orders,
      argv: [CODE.href],
      name: `agent ${orders.agent}`,
      resourceLimits: {
        maxYoungGenerationSizeMb: YOUNG_MB,
        // Past its budget something is wrong with an agent; it ends alone, and not the process.
        maxOldGenerationSizeMb: Math.max(256, Math.ceil(orders.settings.agent.memory / 2 ** 20)),
      },
    })
    let why = 'its thread ended'
    this.#worker.on('message', (message: FromAgent) => {
      if ('status' in message) this.#status = message.status
      if (!this.#isLetGo) events.onMessage(this.agent, message)
    })
    this.#worker.on('error', (cause: unknown) => {
      why = cause instanceof Error ? cause.message : String(cause)
    })
    this.#worker.on('exit', () => {
      this.#isGone = true
      if (!this.#isLetGo) events.onDeath(this.agent, why)
    })
  }

  /** What it said last. */
  get status(): AgentStatus | null {
    return this.#status
  }

  tell(message: ToAgent): void {
    this.#worker.postMessage(message, message.kind === 'connect' ? [message.port] : [])
  }

  /** Ends the thread, which then counts as dead: whatever it does in JavaScript, this works. */
  kill(): void {
    this.#isKilled = true
    void this.#end()
  }

  /** Resolves when the thread is gone. */
  #end(): Promise<unknown> {
    this.#ending ??= new Promise((resolve) => {
      if (this.#isGone) return resolve(null)
      const mercy = setTimeout(() => void this.#worker.terminate(), MERCY_MS)
      this.#worker.once('exit', () => {
        clearTimeout(mercy)
        resolve(null)
      })
      this.tell({ kind: 'die' })
    })
    return this.#ending
  }

  /** One look at a thread that was killed: true when it should be gone since long, and a call into the system holds it. */
  isStuck(): boolean {
    return this.#isKilled && !this.#isGone && ++this.#looks === LOOKS_MAX
  }

  /** Ends the thread for good: nobody hears of it any more. One that cannot be ended is left behind after a while: false. */
  async letGo(): Promise<boolean> {
    this.#isLetGo = true
    let timer: NodeJS.Timeout | null = null
    const patience = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#looks >= LOOKS_MAX ? 0 : LET_GO_MS)
    })
    await Promise.race([this.#end(), patience])
    if (timer !== null) clearTimeout(timer)
    return this.#isGone
  }
}
