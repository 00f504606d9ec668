// A crawl that only seems to be one: answers every route by its schema, remembers what it was asked, and says what a test wants.

import { Fault } from '../../src/base/index.ts'
import type { AnswerOf, CrawlEvent, CrawlInfo, CrawlRoute, CrawlSource, CrawlSources } from '../../src/control/index.ts'

export function fakeInfo(id: string, more: Partial<CrawlInfo> = {}): CrawlInfo {
  return {
    id,
    name: id,
    dir: `/crawls/${id}`,
    state: 'running',
    stoppedBecause: null,
    startedAt: '2026-11-16T05:20:00.000Z',
    agents: 2,
    figures: {
      pages: 10,
      failed: 1,
      failures: { DNS_NOT_FOUND: 1 },
      answers: { '2xx': 9, '4xx': 1 },
      skipped: {},
      refused: {},
      bytes: 1_000,
      wireBytes: 500,
      seconds: 3,
      hosts: 2,
      urlsSeen: 12,
      waiting: 1,
      cpuSeconds: 1.5,
      peakRssBytes: 1 << 20,
    },
    now: null,
    cluster: null,
    can: ['pause', 'stop'],
    ...more,
  }
}

export interface FakeCrawl extends CrawlSource {
  /** Every question: name of the route, what was asked, who asked. */
  readonly questions: { readonly name: string; readonly asked: unknown; readonly who: string }[]
  readonly watchers: Set<{ onInfo: (info: CrawlInfo) => void; onEvent: (event: CrawlEvent) => void }>
}

/** Routes that are not given refuse, as a source does. */
export function fakeCrawl(id: string, answers: Partial<{ [N in CrawlRoute]: () => AnswerOf<N> }> = {}): FakeCrawl {
  const questions: FakeCrawl['questions'] = []
  const watchers: FakeCrawl['watchers'] = new Set()
  const own = {
    id,
    questions,
    watchers,
    metrics: async () => `# TYPE portolan_pages counter\nportolan_pages{crawl="${id}"} 10\n`,
    watch: (onInfo: (info: CrawlInfo) => void, onEvent: (event: CrawlEvent) => void) => {
      const watcher = { onInfo, onEvent }
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
  }
  const all: Partial<Record<string, () => unknown>> = { crawl: () => fakeInfo(id), ...answers }
  return new Proxy(own as unknown as FakeCrawl, {
    get: (target, name) => {
      if (name in target || typeof name !== 'string' || name === 'then') return Reflect.get(target, name) as unknown
      return async (asked: unknown, { who }: { readonly who: string }) => {
        questions.push({ name, asked, who })
        const answer = all[name]
        if (answer === undefined) throw new Fault('CONTROL_REFUSED', `${name} is not for this crawl`)
        return answer()
      }
    },
  })
}

export function fakeSources(...crawls: readonly CrawlSource[]): CrawlSources {
  return {
    list: async () => crawls,
    find: async (id) => crawls.find((crawl) => crawl.id === id) ?? null,
    create: null,
  }
}
