import { expect, onTestFinished, test } from 'vitest'
import { type CrawlOptions, FAST, settingsOf, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { systemClock } from '../base/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'
import { settleShares } from './shares.ts'

async function agentsOf(seeds: readonly string[], flags: CrawlOptions['flags'] = {}): Promise<number> {
  const { names } = await settleShares({
    dir: temporaryDirectory(onTestFinished),
    seeds: seeds.map((seed) => canonicalise(seed) as CanonicalUrl),
    settings: settingsOf({ ...FAST, ...flags }),
    newIdentity: () => ({ name: 'shares', key: '0011223344556677', startedAtMs: 1 }),
    agentsUsual: 4,
    clock: systemClock,
    software: 'Portolan/test',
    environment: {},
    onEvent: () => expect.unreachable('nothing is shared anew'),
  })
  return names?.length ?? 1
}

const ONE = ['http://one.example/', 'http://one.example/more']
const THREE = [...ONE, 'http://two.example/', 'http://three.example/']
const MANY = Array.from({ length: 9 }, (_, i) => `http://h${i}.example/`)

test.each([
  ['one host has one agent: another would never have anything to do', ONE, {}, 1],
  ['three hosts have three', THREE, {}, 3],
  ['nine have as many as there are processors', MANY, {}, 4],
  ['links within a directory lead to no other host either', ONE, { scope: 'prefix' }, 1],
  ['subdomains may be many', ONE, { scope: 'domain' }, 4],
  ['so may all others', ONE, { scope: 'any' }, 4],
  ['what is asked for is had', ONE, { agents: '3' }, 3],
  ['seeds that come later are of as many hosts as you like', [], {}, 4],
])('%s', async (_, seeds, flags: NonNullable<CrawlOptions['flags']>, agents) => {
  expect(await agentsOf(seeds, flags)).toBe(agents)
})
