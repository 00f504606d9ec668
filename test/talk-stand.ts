// A fetcher of another protocol than HTTP on a stand: its own clock and spool, asked by URL, and proven to have closed everything.

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { type Clock, ManualClock } from '../src/base/index.ts'
import { type Document, Spool } from '../src/document/index.ts'
import { type FetchOutcome, type FetchRequest, openFetcher } from '../src/fetch/index.ts'
import { fetchOptions } from '../src/fetch/options.ts'
import type { CanonicalUrl } from '../src/url/index.ts'
import { openDescriptors } from './open-descriptors.ts'

export interface TalkStand extends AsyncDisposable {
  readonly clock: ManualClock
  readonly controller: AbortController
  ask(url: string, change?: Partial<FetchRequest>): Promise<FetchOutcome>
  /** For answers that must be documents. They are released at the end. */
  document(url: string, change?: Partial<FetchRequest>): Promise<Document>
  text(url: string): Promise<string>
  /** Lets time pass until the answer is there; what is still on its way may come between. */
  passTime(asked: Promise<unknown>, stepMs: number): Promise<void>
}

/** What a server in this process has sent is there after a few of them. */
const TURNS_BETWEEN = 20

let standCount = 0

export function openTalkStand(
  options: object = {},
  more: { readonly clock?: Clock; readonly env?: Record<string, string> } = {},
): TalkStand {
  const descriptorsBefore = openDescriptors()
  const clock = new ManualClock()
  const directory = join(tmpdir(), `portolan-talk-${process.pid}-${standCount++}`)
  mkdirSync(directory)
  const spool = new Spool(directory, 65_536)
  const settings = fetchOptions.parse({ allowPrivate: true, ...options })
  const fetcher = openFetcher(settings, spool, more.clock ?? clock, more.env ?? {})
  const controller = new AbortController()
  const documents: Document[] = []
  const ask: TalkStand['ask'] = async (url, change = {}) => {
    const outcome = await fetcher.fetch(
      {
        url: url as CanonicalUrl,
        addresses: [{ ip: '127.0.0.1', family: 4 }],
        purpose: 'page',
        isLast: false,
        acceptPartial: false,
        ...change,
      },
      controller.signal,
    )
    if (outcome.kind === 'fetched') documents.push(outcome.document)
    return outcome
  }
  const document: TalkStand['document'] = async (url, change) => {
    const outcome = await ask(url, change)
    if (outcome.kind !== 'fetched') throw new Error(`not fetched: ${JSON.stringify(outcome)}`)
    return outcome.document
  }
  return {
    clock,
    controller,
    ask,
    document,
    text: async (url) => Buffer.from((await document(url)).body.bytes()).toString('latin1'),
    async passTime(asked, stepMs) {
      const answer = { isThere: false }
      void asked.finally(() => (answer.isThere = true))
      while (!answer.isThere) {
        for (let turn = 0; turn < TURNS_BETWEEN; turn++) await new Promise((resolve) => setImmediate(resolve))
        clock.advance(stepMs)
      }
    },
    async [Symbol.asyncDispose]() {
      await fetcher.close()
      for (const one of documents) one.release()
      spool.close()
      expect(readdirSync(directory)).toEqual([])
      rmSync(directory, { recursive: true })
      // Sockets close a few turns of the event loop after they are destroyed, the other side's too.
      for (let turn = 0; turn < 1_000 && openDescriptors() > descriptorsBefore; turn++) {
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect(openDescriptors()).toBeLessThanOrEqual(descriptorsBefore)
    },
  }
}
