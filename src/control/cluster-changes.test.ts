// A crawl of a cluster is made another one: checked, numbered, once; and what is said of it afterwards.

import { expect, test } from 'vitest'
import { makeChange, readChanges } from '../cluster/index.ts'
import { type Engine, MemoryEngine } from '../engine/index.ts'
import { addSeeds, changeOptions, changesIn } from './cluster-changes.ts'
import { sumPreviews } from './cluster-preview.ts'
import { ClusterTraces } from './cluster-traces.ts'
import type { SaidOptions } from './steered-crawl.ts'

const ME = { who: 'me' }
const SET_UP = { settings: { frontier: { delay: '1s' } }, seeds: ['http://a.test/'] }

/** Somebody else changes these just before the first change of ours is created. */
function raced(other: SaidOptions): Engine {
  const client = MemoryEngine.create().client()
  const { records } = client
  const create = records.create.bind(records)
  let isFirst = true
  records.create = async (name, value) => {
    if (isFirst) {
      isFirst = false
      await changeOptions(client, SET_UP, other, { who: 'eve' })
    }
    return create(name, value)
  }
  return client
}

test('of two who change one option at once the second is told by whom; what the other changed else stays', async () => {
  const same = changeOptions(raced({ frontier: { delay: '5s' } }), SET_UP, { frontier: { delay: '9s' } }, ME)
  await expect(same).rejects.toThrow('eve has changed frontier.delay in this moment')
  const engine = raced({ url: { maxDepth: 4 } })
  const { change } = await changeOptions(engine, SET_UP, { frontier: { delay: '9s' } }, ME)
  expect(change).toBe(2)
  const changes = await readChanges(engine)
  expect(changes.settingsAfter(0)).toEqual({ frontier: { delay: '9s' }, url: { maxDepth: 4 } })
  expect(changes.all.map(({ by, options }) => [by, options])).toEqual([
    ['eve', { url: { maxDepth: 4 } }],
    ['me', { frontier: { delay: '9s' } }],
  ])
})

test('what is so already is no change; null takes back what was said', async () => {
  const engine = MemoryEngine.create().client()
  expect((await changeOptions(engine, SET_UP, { frontier: { delay: '1s' } }, ME)).change).toBeNull()
  expect((await changeOptions(engine, SET_UP, { frontier: { delay: null } }, ME)).change).toBe(1)
  expect((await readChanges(engine)).settingsAfter(0)).toEqual({ frontier: {} })
  const both = await changeOptions(engine, SET_UP, { agent: { maxRate: 5, retries: 1 } }, ME)
  expect(both).toMatchObject({ takesEffect: 'anew', limits: { ratePerSecond: 5 } })
})

test('seeds beyond what a record holds are several changes, and none twice', async () => {
  const engine = MemoryEngine.create().client()
  const seeds = Array.from({ length: 12_000 }, (_, i) => `http://host-${i}.test/${'x'.repeat(30)}`)
  const first = await addSeeds(engine, SET_UP, ['http://a.test', ...seeds, 'nonsense:'], ME)
  expect(first).toMatchObject({ added: 12_000, known: 1, problems: [{ where: 'seeds.12001' }] })
  expect(first.change).toBeGreaterThan(1)
  expect(await addSeeds(engine, SET_UP, seeds, ME)).toMatchObject({ added: 0, known: 12_000, change: null })
  expect((await readChanges(engine)).seedsAfter(0)).toEqual(seeds)
})

test('the record of changes has who, when and what, wishes and changes as one', async () => {
  const wish = {
    kind: 'speed',
    node: null,
    speed: { ratePerSecond: null },
    by: 'me',
    at: '2026-01-01T00:00:02Z',
    number: 1,
  }
  const change = {
    id: '',
    settings: {},
    options: null,
    isLive: false,
    by: 'eve',
    at: '2026-01-01T00:00:01Z',
    number: 1,
  }
  const told = changesIn({
    events: [],
    wishes: [{ ...wish, kind: 'speed' }],
    changes: [{ ...change, seeds: Array.from({ length: 150 }, (_, i) => `http://${i}.test/`) }],
  })
  expect(told).toMatchObject([
    { number: 1, who: 'eve', what: 'seeds', detail: { change: 1, count: 150 } },
    { number: 2, who: 'me', what: 'speed', detail: { speed: { ratePerSecond: null } } },
  ])
  expect(told[0]?.detail['seeds']).toHaveLength(100)
})

test('a preview is complete where every share is told of and was looked through, and counts none twice', () => {
  const share = (number: number, hit: number, isComplete = true) => {
    return { share: number, seen: 9, hit, reasons: { blocked: hit }, examples: [`http://${number}.test/`], isComplete }
  }
  expect(sumPreviews([[share(0, 2)], [share(1, 3)]], 2)).toEqual({
    hit: 5,
    reasons: { blocked: 5 },
    examples: ['http://0.test/', 'http://1.test/'],
    isComplete: true,
  })
  expect(sumPreviews([[share(0, 2)], undefined], 2)).toMatchObject({ hit: 2, isComplete: false })
  expect(sumPreviews([[share(0, 2), share(1, 1, false)]], 2).isComplete).toBe(false)
  // It moved, and both its nodes tell of it.
  expect(sumPreviews([[share(0, 2)], [share(0, 2), share(1, 1)]], 2).hit).toBe(3)
})

test('what happens to a URL that is followed stands among the events in the order of time, with numbers that stay', () => {
  const traces = new ClusterTraces()
  const say = (at: string, step: string): void =>
    traces.hear(new TextEncoder().encode(JSON.stringify({ node: 'a', share: 3, url: 'http://a.test/', step, at })))
  const events = [{ number: 1, at: '2026-01-01T00:00:01Z', kind: 'node', text: 'View 1.' }]
  say('2026-01-01T00:00:02Z', 'waits')
  traces.hear(new TextEncoder().encode('of something else'))
  const before = traces.among(events)
  expect(before.map(({ number, text }) => [number, text])).toEqual([
    [1, 'View 1.'],
    [2, 'http://a.test/ waits (share 3, node a).'],
  ])
  say('2026-01-01T00:00:03Z', 'is asked for')
  expect(traces.among(events).slice(0, 2)).toEqual(before)
  for (let i = 0; i < 2_000; i++) say('2026-01-01T00:00:04Z', `step ${i}`)
  const all = traces.among(events)
  expect(all).toHaveLength(1_001)
  expect(all.at(-1)?.number).toBe(2_003)
})

test('a change that is too large for a record is refused, and nothing is changed', async () => {
  const engine = MemoryEngine.create().client()
  const block = Array.from({ length: 40_000 }, (_, i) => `domain-${i}.example`)
  await expect(changeOptions(engine, SET_UP, { url: { block } }, ME)).rejects.toMatchObject({ code: 'CLUSTER_REFUSED' })
  expect(await makeChange(engine, () => null)).toBeNull()
  expect((await readChanges(engine)).upTo).toBe(0)
})
