// A crawl that runs in another process of this machine: every question is passed on to its socket, and its answer given back.

import { Fault } from '../base/index.ts'
import { ROUTES, type AnswerOf, type CrawlEvent, type CrawlInfo } from './api.ts'
import { type ControlClient, createClient, type Transport } from './client.ts'
import type { Asker, CrawlAnswers, CrawlRoute } from './crawl-source.ts'
import type { RouteName } from './paths.ts'
import { answersBy } from './route-answers.ts'

export class RemoteCrawl {
  readonly answers: CrawlAnswers
  /** What it is called here; its own process knows it by a name of its own. */
  readonly #id: string
  readonly #transport: Transport
  #there: Promise<string> | null = null

  constructor(id: string, transport: Transport) {
    this.#id = id
    this.#transport = transport
    this.answers = answersBy((name, asked, asker) => this.#ask(name, asked, asker))
  }

  /** Until the signal comes, or the other side ends it. */
  async live(
    onInfo: (info: CrawlInfo) => void,
    onEvent: (event: CrawlEvent) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const tell = (info: CrawlInfo): void => onInfo({ ...info, id: this.#id })
    await this.#client('api').live(await this.#nameThere(), { onInfo: tell, onEvent }, signal)
  }

  metrics(): Promise<string> {
    return this.#client('api').text('/metrics')
  }

  #client(who: string): ControlClient {
    return createClient(this.#transport, { who })
  }

  async #ask(name: CrawlRoute, asked: Readonly<Record<string, unknown>>, { who }: Asker): Promise<unknown> {
    const { params, body } = splitAsked(name, asked)
    const client = this.#client(who) as { call(...all: unknown[]): Promise<unknown> }
    const answer = await client.call(name, { ...params, crawl: await this.#nameThere() }, body)
    return name === 'crawl' ? { ...(answer as AnswerOf<'crawl'>), id: this.#id } : answer
  }

  #nameThere(): Promise<string> {
    const asking = (this.#there ??= this.#askName())
    asking.catch(() => {
      if (this.#there === asking) this.#there = null
    })
    return asking
  }

  async #askName(): Promise<string> {
    const [first] = (await this.#client('api').call('crawls', {})).crawls
    if (first === undefined) throw new Fault('CONTROL_UNKNOWN', 'the process has no crawl')
    return first.id
  }
}

/** What was joined for the source, apart again. */
function splitAsked(
  name: RouteName,
  asked: Readonly<Record<string, unknown>>,
): { readonly params: Record<string, unknown>; readonly body: Record<string, unknown> } {
  const inBody = ROUTES[name].body?.shape ?? {}
  const params: Record<string, unknown> = {}
  const body: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(asked)) {
    if (Object.hasOwn(inBody, key)) body[key] = value
    else params[key] = value
  }
  return { params, body }
}
