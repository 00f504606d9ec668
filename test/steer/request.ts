// What a crawl of the test web is asked for with, as the command would ask.

import { readConfig, SECTIONS } from '../../src/config/index.ts'
import type { CrawlRequest } from '../../src/cli/run-crawl.ts'
import { canonicalise, type CanonicalUrl } from '../../src/url/index.ts'

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
