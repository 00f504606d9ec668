// A fetcher before the nasty face of the test web, both on one clock that only the stand moves: hours of
// waiting take no time, and nothing depends on how fast the machine is.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ManualClock } from '../../src/base/index.ts'
import { type Document, Spool } from '../../src/document/index.ts'
import { type FetchOutcome, type FetchRequest, HttpFetcher } from '../../src/fetch/index.ts'
import { fetchOptions } from '../../src/fetch/options.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'
import { Certificates, NastyFace } from '../../testweb/index.ts'
import { openDescriptors } from '../open-descriptors.ts'

/** Turns of the event loop that a second lasts: enough for every byte that is on its way to arrive. */
const TURNS_PER_SECOND = 20
/** A request that is not over by then hangs. */
const SECONDS_MAX = 600

export interface NastyStand extends AsyncDisposable {
  readonly face: NastyFace
  readonly fetcher: HttpFetcher
  /** Asks the host of a behaviour, and lets time pass until there is an outcome. */
  ask(name: string, path?: string, change?: Partial<FetchRequest>): Promise<FetchOutcome>
  /** Lets what is on its way arrive, while no time passes. */
  turns(): Promise<void>
}

export async function openNastyStand(options: object = {}): Promise<NastyStand> {
  const descriptorsBefore = openDescriptors()
  const clock = new ManualClock()
  const certificates = new Certificates(Date.now())
  const face = await NastyFace.open({ clock, certificates })
  const folder = mkdtempSync(join(tmpdir(), 'portolan-nasty-'))
  const caFile = join(folder, 'ca.pem')
  writeFileSync(caFile, certificates.authority)
  const spoolFolder = join(folder, 'spool')
  mkdirSync(spoolFolder)
  const spool = new Spool(spoolFolder, 65_536)
  const settings = fetchOptions.parse({ allowPrivate: true, caFile, http2: 'needed', ...options })
  const fetcher = new HttpFetcher(settings, spool, clock)
  const documents: Document[] = []
  return {
    face,
    fetcher,
    async ask(name, path = '/', change = {}) {
      const url = face.url(name, path) as CanonicalUrl
      const state = { isOver: false }
      const asked = fetcher.fetch(
        {
          url,
          addresses: [{ ip: new URL(url).hostname, family: 4 }],
          purpose: 'page',
          isLast: false,
          acceptPartial: false,
          ...change,
        },
        new AbortController().signal,
      )
      const settled = asked.finally(() => (state.isOver = true))
      // The first request waits for the module of HTTP/2.
      while (!state.isOver && fetcher.figures.underWay === 0) await nextTurn()
      for (let second = 0; !state.isOver && fetcher.figures.underWay > 0; second++) {
        if (second === SECONDS_MAX) throw new Error(`${name} hangs`)
        for (let turn = 0; turn < TURNS_PER_SECOND && !state.isOver; turn++) await nextTurn()
        clock.advance(1_000)
      }
      const got = await settled
      if (got.kind === 'fetched') documents.push(got.document)
      return got
    },
    async turns() {
      for (let turn = 0; turn < TURNS_PER_SECOND; turn++) await nextTurn()
    },
    async [Symbol.asyncDispose]() {
      for (const document of documents) document.release()
      await fetcher.close()
      spool.close()
      expect(fetcher.figures).toEqual({ clients: 0, underWay: 0 })
      await face.close()
      expect(readdirSync(spoolFolder)).toEqual([])
      rmSync(folder, { recursive: true })
      for (let turn = 0; turn < 1_000 && openDescriptors() > descriptorsBefore; turn++) await nextTurn()
      expect(openDescriptors()).toBeLessThanOrEqual(descriptorsBefore)
    },
  }
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
