// A crawl under guard: a small parent starts the crawl in a process of its own, and again when that one dies.
//
//   guard ── start, signals, standard input ──▶ crawl          state/pid is the crawl's
//         ◀── "ended" ─────────────────────────
//
// A crawl says that it has ended before it tells its result; one that goes without a word has died (killed, aborted, out of
// memory, an error nobody caught), and goes on from its last commit in the next process. So a result is told once. The child is
// in a session of its own: Ctrl-C reaches the guard alone, which passes it on, and nobody counts it twice. A child whose
// guard is gone ends at once.

import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { systemClock } from '../base/index.ts'
import { RestartBudget } from '../supervise/index.ts'
import { EXIT } from './command.ts'

/** Tells a process that it is the crawl of a guard, its how-manieth, and of which: `2 NAME`. */
const ENVIRONMENT = 'PORTOLAN_GUARDED'
const ENDED = 'ended'
/** Deaths within ten minutes, before starting again counts as a loop. */
export const RESTARTS_MAX = 5
const RESTARTS_WITHIN_MS = 600_000
const PASSED_ON = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Whether this process is the crawl of a guard. */
export function isGuarded(): boolean {
  return process.env[ENVIRONMENT] !== undefined && process.send !== undefined
}

/** Which process of a crawl this is, by number: '1' for the first, and without a guard. */
export function lifeUnderGuard(): string {
  return process.env[ENVIRONMENT]?.split(' ')[0] ?? '1'
}

/** The guard of this process, by a name that no other ever has; null without one. */
export function guardOf(): string | null {
  return isGuarded() ? (process.env[ENVIRONMENT]?.split(' ')[1] ?? null) : null
}

/** In the child: from now on it does not outlive its guard. */
export function liveUnderGuard(): void {
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
  // Listening must not keep a crawl that is done from ending.
  process.channel?.unref()
}

/** In the child: what comes now is the end, whatever it is. Resolves when the guard will hear of it. */
export function sayEnded(): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(ENDED, () => resolve())
  })
}

export interface Guarding {
  /** All arguments of the process, the command included. */
  readonly args: readonly string[]
  /** What came by standard input, for each child anew; null where nobody reads it. */
  readonly input: Buffer | null
  readonly restartsMax: number
  readonly say: (line: string) => void
}

/** How it ended: with the exit code of a crawl, because it was told to, or because it dies again and again. */
export type GuardEnd =
  | { readonly kind: 'ended'; readonly code: number }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'given-up'; readonly why: string }

interface ChildEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly hasEnded: boolean
}

export async function guard({ args, input, restartsMax, say }: Guarding): Promise<GuardEnd> {
  const budget = new RestartBudget(restartsMax, RESTARTS_WITHIN_MS)
  const name = randomUUID()
  let isToldToStop = false
  let pass: (signal: NodeJS.Signals) => void = () => {}
  const onSignal = (signal: NodeJS.Signals): void => {
    isToldToStop = true
    pass(signal)
  }
  for (const signal of PASSED_ON) process.on(signal, onSignal)
  try {
    for (let life = 1; ; life++) {
      const { code, signal, hasEnded } = await liveOnce(args, input, { life, guard: name }, (kill) => {
        pass = kill
      })
      // Killed after its last words: nobody knows whether the result was told, and twice would be worse.
      if (hasEnded) return { kind: 'ended', code: code ?? EXIT.failed.code }
      // Signals by which people end a process, whoever sent them.
      if (isToldToStop || PASSED_ON.some((one) => one === signal)) return { kind: 'interrupted' }
      const why = signal === null ? `it ended with ${code} and without a word` : `by ${signal}`
      if (!budget.spend(systemClock.nowMs())) return { kind: 'given-up', why }
      say(`The crawl died (${why}) and is started again; it goes on from its last commit.`)
    }
  } finally {
    for (const signal of PASSED_ON) process.off(signal, onSignal)
  }
}

/** One child, from its start to its end. */
function liveOnce(
  args: readonly string[],
  input: Buffer | null,
  { life, guard: name }: { readonly life: number; readonly guard: string },
  onStart: (kill: (signal: NodeJS.Signals) => void) => void,
): Promise<ChildEnd> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...process.execArgv, ...args], {
      stdio: [input === null ? 'inherit' : 'pipe', 'inherit', 'inherit', 'ipc'],
      detached: true,
      env: { ...process.env, [ENVIRONMENT]: `${life} ${name}` },
    })
    let hasEnded = false
    child.on('message', (message) => {
      if (message === ENDED) hasEnded = true
    })
    child.on('error', reject)
    // After its last words: 'exit' may come before them.
    child.on('close', (code, signal) => resolve({ code, signal, hasEnded }))
    // A child that dies does not read on.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    onStart((signal) => child.kill(signal))
  })
}
