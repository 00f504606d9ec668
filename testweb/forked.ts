// The test web in a process of its own, so that its work does not count as the crawler's. What is pure
// (URLs, truth) is computed here, from the same options and ports; only log and CPU time are asked for.

import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assert } from '../src/base/index.ts'
import type { Ports } from './content/host.ts'
import { Web } from './content/web.ts'
import type { PolitenessRules, Violation } from './judge/politeness.ts'
import { type Truth, truth, type TruthQuestion } from './judge/truth.ts'
import { completeOptions } from './options.ts'
import type { TestWebOptions } from './test-web.ts'

/** What parent and child say to each other. Functions do not travel, so delays are plain numbers here. */
export type Order =
  | { readonly order: 'start'; readonly options: Omit<TestWebOptions, 'clock'> }
  | { readonly order: 'figures' | 'reset' }
  | { readonly order: 'politeness'; readonly rules: PolitenessRules & { readonly delayMs: number } }

export interface Started {
  readonly ports: Ports
  readonly dns: { readonly address: string; readonly port: number }
  readonly authority: string | null
}

export interface ServerFigures {
  readonly requests: number
  /** User and system time of the server's process since it started. */
  readonly cpuMs: number
}

export class ForkedTestWeb {
  readonly web: Web
  readonly started: Started
  readonly #child: ChildProcess

  private constructor(web: Web, started: Started, child: ChildProcess) {
    this.web = web
    this.started = started
    this.#child = child
  }

  static async start(options: Omit<TestWebOptions, 'clock'> = {}): Promise<ForkedTestWeb> {
    const { port, httpsPort, logMax, nasty, ...webOptions } = options
    void [port, httpsPort, logMax, nasty]
    const complete = completeOptions(webOptions)
    const child = fork(fileURLToPath(new URL(`forked-main${extname(import.meta.url)}`, import.meta.url)), [], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    const started = await ask<Started>(child, { order: 'start', options })
    return new ForkedTestWeb(new Web(complete, started.ports), started, child)
  }

  truth(question: Partial<TruthQuestion> = {}): Truth {
    return truth(this.web, { seeds: this.web.seeds(), ...question })
  }

  figures(): Promise<ServerFigures> {
    return ask(this.#child, { order: 'figures' })
  }

  politeness(rules: PolitenessRules & { readonly delayMs: number }): Promise<Violation[]> {
    return ask(this.#child, { order: 'politeness', rules })
  }

  async reset(): Promise<void> {
    await ask(this.#child, { order: 'reset' })
  }

  /** The child ends when the line to it does, so it never outlives its parent. */
  async stop(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.disconnect()
    await ended
  }
}

/** One question at a time: the child answers in order and nobody asks twice without waiting. */
async function ask<T>(child: ChildProcess, order: Order): Promise<T> {
  child.send(order)
  const ending = new AbortController()
  try {
    const [reply] = (await Promise.race([
      once(child, 'message', { signal: ending.signal }),
      once(child, 'exit', { signal: ending.signal }).then(() => [{ fault: 'its process ended' }]),
    ])) as [{ fault: string } | { answer: T }]
    assert('answer' in reply, `test web: ${'fault' in reply ? reply.fault : 'no answer'}`)
    return reply.answer
  } finally {
    ending.abort()
  }
}
