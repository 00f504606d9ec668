// What other options mean for a crawl that lives already.

import { expect, test } from 'vitest'
import { urlOptions } from '../url/options.ts'
import { compareOptions, joinOptions, type OptionChanges } from './changed-options.ts'
import { agentOptions } from './options.ts'

type Said = Record<string, unknown>

function settings(url: Said = {}, agent: Said = {}): Parameters<typeof compareOptions>[0] {
  return { url: urlOptions.parse(url), agent: agentOptions.parse(agent) }
}

/** A run with some options after one with others; what is remembered goes through JSON, as in the journal. */
function changes(before: [Said, Said?], now: [Said, Said?]): OptionChanges {
  const { remembered } = compareOptions(settings(...before), null)
  return compareOptions(settings(...now), JSON.parse(JSON.stringify(remembered)) as OptionChanges['remembered'])
}

test('the same options change nothing, patterns included', () => {
  const said = { scope: 'domain', exclude: ['/private/'], maxDepth: 3 }
  expect(changes([said], [said])).toMatchObject({ isDeeper: false, hasMoreHostPages: false, isScopeChanged: false })
  expect(changes([said], [said]).remembered.wasRescoped).toBe(false)
})

test.each<[string, Said, Said, boolean]>([
  ['another scope', { scope: 'host' }, { scope: 'any' }, true],
  ['another pattern', { exclude: ['/a/'] }, { exclude: ['/b/'] }, true],
  ['a lower depth', { maxDepth: 3 }, { maxDepth: 2 }, true],
  ['a longer URL', {}, { urlLength: 9_000 }, false],
])('%s', (_, before, now, isScopeChanged) => {
  expect(changes([before], [now]).isScopeChanged).toBe(isScopeChanged)
})

test('a scope that was changed once is asked again in every later run: what waited then may still wait', () => {
  const { remembered } = changes([{ scope: 'any' }], [{ scope: 'host' }])
  const later = compareOptions(settings({ scope: 'host' }), remembered)
  expect(later).toMatchObject({ isScopeChanged: false, remembered: { wasRescoped: true } })
})

test.each<[number | null, number | null, boolean]>([
  [2, 3, true],
  [2, null, true],
  [3, 2, false],
  [2, 2, false],
  [null, 2, false],
])('a limit of %s that becomes %s is raised: %s', (before, now, isRaised) => {
  expect(changes([{ maxDepth: before }], [{ maxDepth: now }]).isDeeper).toBe(isRaised)
  expect(changes([{}, { hostPages: before }], [{}, { hostPages: now }]).hasMoreHostPages).toBe(isRaised)
})

test('another speed is simply kept to from now on', () => {
  const slow = { maxRate: 5, maxBandwidth: '10MB', connections: 10 }
  expect(changes([{}, slow], [{}, { maxRate: 0.5 }])).toEqual(changes([{}], [{}]))
})

test('names of session parameters cannot change, and the message says what they were', () => {
  expect(() => changes([{ sessionIds: ['sid'] }], [{ sessionIds: ['sid', 'PHPSESSID'] }])).toThrow(
    'sessionIds cannot change while a crawl lives (it was begun with sid)',
  )
  expect(() => changes([{ sessionIds: ['sid'] }], [{ sessionIds: ['sid'] }])).not.toThrow()
})

test('agents that remember different runs are joined so that whatever one of them has not done is done', () => {
  const remembered = (url: Said, agent: Said = {}): OptionChanges['remembered'] =>
    compareOptions(settings(url, agent), null).remembered
  const shallow = remembered({ maxDepth: 2 }, { hostPages: null })
  const deep = remembered({ maxDepth: 5 }, { hostPages: 7 })
  for (const both of [
    [shallow, deep],
    [deep, shallow],
  ]) {
    const joined = joinOptions(both)
    expect(joined).toMatchObject({ maxDepth: 2, hostPages: 7 })
    const now = compareOptions(settings({ maxDepth: 5 }, { hostPages: 8 }), joined)
    expect(now).toMatchObject({ isDeeper: true, hasMoreHostPages: true, isScopeChanged: true })
    expect(now.remembered.wasRescoped).toBe(true)
  }
  expect(joinOptions([deep, deep])).toEqual(deep)
  expect(joinOptions([])).toBeNull()
})
