// A crawl as the command runs it, inside the test's own process, steered through what the control API is served from.

import { join } from 'node:path'
import { vi } from 'vitest'
import { readConfig, SECTIONS } from '../../src/config/index.ts'
import { RunningCrawl } from '../../src/control/running-crawl.ts'
import type { SteeredCrawl } from '../../src/control/index.ts'
import { type CrawlRequest, runCrawl } from '../../src/cli/run-crawl.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../../src/store/index.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'

export const ASKER = { who: 'test' }

export type Options = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export const QUICK: Options = {
  fetch: { allowPrivate: true },
  frontier: { delay: '0ms', backoff: '5ms', backoffMax: '20ms', retryAfterMax: '50ms' },
  store: { warc: 'none' },
}

export function joined(one: Options, two: Options): Options {
  const all: Record<string, Record<string, unknown>> = {}
  for (const [section, own] of [...Object.entries(one), ...Object.entries(two)]) {
    all[section] = { ...all[section], ...own }
  }
  return all
}

export function requestOf(dir: string, seeds: readonly string[], options: Options): CrawlRequest {
  const file = { name: 'test', content: options }
  const result = readConfig(SECTIONS, { flags: new Map(), environment: {}, file })
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems))
  return {
    dir,
    seeds: seeds.map((seed) => canonicalise(seed) as CanonicalUrl),
    config: result.config,
    said: result.said,
    stored: {},
    progress: 'none',
    isJson: true,
    warnings: [],
  }
}

export interface SteeredResult {
  readonly code: number
  readonly pages: readonly PageRecord[]
  readonly failures: readonly FailureRecord[]
}

/** Steered while it runs; what steering throws ends the test. */
export async function runSteered(
  request: CrawlRequest,
  steer: (crawl: RunningCrawl, steered: SteeredCrawl) => Promise<void>,
): Promise<SteeredResult> {
  let steering: Promise<void> = Promise.resolve()
  let broken: unknown = null
  // Its result is in crawl.json too.
  const quiet = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const code = await runCrawl(request, (steered) => {
    const crawl = new RunningCrawl(steered)
    steering = steer(crawl, steered).catch((fault: unknown) => {
      broken = fault
      steered.stop()
    })
  }).finally(() => quiet.mockRestore())
  await steering
  if (broken !== null) throw broken as Error
  const linesOf = <T>(name: string): Promise<T[]> => Array.fromAsync(readJsonLines<T>(join(request.dir, name)))
  return { code, pages: await linesOf('pages.jsonl'), failures: await linesOf('failures.jsonl') }
}

/** Resolves when it holds; looked at again and again. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}

export async function pagesReach(crawl: RunningCrawl, pages: number): Promise<void> {
  await until(async () => (await crawl.crawl()).figures.pages >= pages)
}
