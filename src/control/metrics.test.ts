// What Prometheus is told: in its format, under the names of the table, with labels that are bounded whatever a crawl meets.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parsePrometheus } from '../../test/prometheus-text.ts'
import { FAILURES, REFUSALS, SKIPS } from '../base/index.ts'
import type { AnswerOf, CrawlInfo } from './api.ts'
import { allMetrics, joinMetrics, renderMetrics } from './metrics.ts'

function info(change: Partial<CrawlInfo> = {}): CrawlInfo {
  return {
    id: 'museums',
    name: 'museums',
    dir: '/crawls/museums',
    state: 'running',
    stoppedBecause: null,
    startedAt: null,
    agents: 2,
    figures: {
      pages: 1_204,
      failed: 7,
      failures: { DNS_NO_NAME: 5, FETCH_TIMEOUT: 2 },
      answers: { '2xx': 1_200, '4xx': 4 },
      skipped: { robots: 3 },
      refused: { 'out-of-scope': 900 },
      bytes: 1e6,
      wireBytes: 4e5,
      seconds: 12.5,
      hosts: 30,
      urlsSeen: 2_000,
      waiting: 786,
      cpuSeconds: 3.25,
      peakRssBytes: 2 ** 28,
    },
    now: {
      pagesPerSecond: 96.3,
      bytesPerSecond: 80_000,
      active: 12,
      hostsReady: 1,
      hostsResting: 17,
      rssBytes: 2 ** 27,
      cpuShare: 0.26,
      slow: 'every host rests',
    },
    cluster: null,
    can: [],
    ...change,
  }
}

const AGENT: AnswerOf<'agents'>['agents'][number] = {
  agent: 1,
  node: null,
  pages: 600,
  failed: 3,
  waiting: 400,
  hosts: 15,
  active: 6,
  limit: 64,
  bottleneck: 'demand',
  speed: { connections: 128, ratePerSecond: 5, bytesPerSecond: null },
}

const NODES: AnswerOf<'nodes'> = {
  shares: 8,
  nodes: [
    {
      node: 'a',
      state: 'working',
      host: 'machine',
      version: 'Portolan/0',
      weight: 4,
      shares: [0, 2, 5],
      pages: 600,
      waiting: 9,
      active: 3,
      rssBytes: 5,
      cpuSeconds: 6,
      lastBeatMs: null,
    },
  ],
}

test('every figure of a crawl, its agents and nodes, under its name', () => {
  const more = { restarts: 1, hostsParked: 2, hostsOut: 10, readShare: 0.5 }
  const said = parsePrometheus(
    renderMetrics([
      {
        info: info({ cluster: { crawl: 'museums', nodes: 1 } }),
        agents: [{ ...AGENT, node: 'a' }],
        nodes: NODES,
        more,
      },
    ]),
  )
  const value = (name: string, labels: string): number | undefined => said.get(name)?.samples.get(labels)
  expect(value('portolan_pages_total', 'crawl=museums')).toBe(1_204)
  expect(value('portolan_failures_total', 'crawl=museums,code=DNS_NO_NAME')).toBe(5)
  expect(value('portolan_answers_total', 'crawl=museums,class=2xx')).toBe(1_200)
  expect(value('portolan_skipped_total', 'crawl=museums,reason=robots')).toBe(3)
  expect(value('portolan_refused_total', 'crawl=museums,reason=out-of-scope')).toBe(900)
  expect(value('portolan_hosts_by_state', 'crawl=museums,state=out')).toBe(10)
  expect(value('portolan_state', 'crawl=museums,state=running')).toBe(1)
  expect(value('portolan_state', 'crawl=museums,state=paused')).toBe(0)
  expect(value('portolan_agent_requests_per_second_limit', 'crawl=museums,node=a,agent=1')).toBe(5)
  expect(said.get('portolan_agent_bytes_per_second_limit')).toBeUndefined()
  expect(value('portolan_node_shares', 'crawl=museums,node=a')).toBe(3)
  // Nothing is told under another name, and what can be told is.
  const known = new Set(allMetrics().map(({ name }) => name))
  expect([...said.keys()].filter((name) => !known.has(name))).toEqual([])
  const untold = [
    'portolan_agent_bytes_per_second_limit',
    'portolan_node_last_beat_seconds',
    'portolan_node_done_pages_total',
    'portolan_node_done_bytes_total',
  ]
  expect([...known].filter((name) => !said.has(name)).sort()).toEqual(untold.sort())
})

test('each outcome is there from the start, so that its first one shows as growth', () => {
  const said = parsePrometheus(renderMetrics([{ info: info() }]))
  expect(said.get('portolan_failures_total')?.samples.size).toBe(Object.keys(FAILURES).length)
  expect(said.get('portolan_skipped_total')?.samples.size).toBe(Object.keys(SKIPS).length)
  expect(said.get('portolan_refused_total')?.samples.size).toBe(Object.keys(REFUSALS).length)
})

test('a crawl at rest says nothing of this moment', () => {
  const said = parsePrometheus(renderMetrics([{ info: info({ now: null, state: 'stopped' }) }]))
  expect(said.has('portolan_active_requests')).toBe(false)
  expect(said.has('portolan_pages_total')).toBe(true)
})

test('whatever crawls are called and whatever they count, the format holds and labels stay few', () => {
  const name = fc.string({ unit: 'grapheme' }).filter((id) => id.isWellFormed())
  const counts = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom(...Object.keys(SKIPS))), fc.nat())
  fc.assert(
    fc.property(fc.uniqueArray(name, { maxLength: 4 }), counts, (ids, skipped) => {
      const crawls = ids.map((id) => ({ info: info({ id, figures: { ...info().figures, skipped } }) }))
      const said = parsePrometheus(renderMetrics(crawls))
      expect(said.get('portolan_pages_total')?.samples.size ?? 0).toBe(ids.length)
      const rows = said.get('portolan_skipped_total')?.samples ?? new Map<string, number>()
      expect(rows.size).toBeLessThanOrEqual(ids.length * (Object.keys(SKIPS).length + 1))
      const sum = Object.values(skipped).reduce((total, count) => total + count, 0)
      expect([...rows.values()].reduce((total, count) => total + count, 0)).toBe(sum * ids.length)
      // One server or several that are joined: the same is said.
      expect(parsePrometheus(joinMetrics(crawls.map((crawl) => renderMetrics([crawl]))))).toEqual(said)
    }),
    { numRuns: 15 },
  )
})
