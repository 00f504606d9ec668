// What a node hears of the crawl, and what of the machine; and what is never stored for all to read.

import { expect, test } from 'vitest'
import type { Problem } from '../config/index.ts'
import { checkName, foreignVariables, ownSettings, settingsOn, sharedSettings, withoutOwn } from './cluster-access.ts'

const definition = {
  format: 1,
  identity: '0011223344556677',
  shares: 2,
  assignment: 'rendezvous',
  leaseMs: 15_000,
  marginMs: 5_000,
  settings: { frontier: { delay: '2s' }, agent: { memory: '1GiB' } },
  seeds: [],
  createdAt: '2026-01-01T00:00:00Z',
}

test('variables of one machine change its memory, and not the crawl', () => {
  const variables = { PORTOLAN_DELAY: '9s', PORTOLAN_MEMORY: '2GiB', HOME: '/' }
  expect(foreignVariables(variables)).toEqual(['PORTOLAN_DELAY'])
  const config = settingsOn(definition.settings, new Map(), {}, variables)
  expect(config.frontier.delay).toBe(2_000)
  expect(config.agent.memory).toBe(2 * 2 ** 30)
})

test('what is said of a machine holds there, over what the crawl says, and is not shared', () => {
  const said = { agent: { memory: '4GiB', maxPages: '5' }, frontier: { delay: '1s' } }
  expect(ownSettings(said)).toEqual({ agent: { memory: '4GiB' } })
  expect(withoutOwn(said)).toEqual({ agent: { maxPages: '5' }, frontier: { delay: '1s' } })
  expect(settingsOn(definition.settings, new Map(), ownSettings(said), {}).agent.memory).toBe(4 * 2 ** 30)
})

test.each([
  [{ headers: { Authorization: 'Bearer x' } }, 'fetch.headers'],
  [{ proxy: 'http://me:secret@proxy.test:3128' }, '--proxy'],
  [{ logins: [{ host: 'a.test', user: 'me', password: 'secret' }] }, 'fetch.logins'],
])('a secret is not shared: %j', (fetch, where) => {
  const problems: Problem[] = []
  sharedSettings({ fetch }, problems)
  expect(problems.map((problem) => problem.where)).toEqual([where])
  expect(JSON.stringify(problems)).not.toContain('secret')
})

test('what is no secret is shared', () => {
  const problems: Problem[] = []
  const fetch = { headers: { 'X-Contact': 'me@a.test' }, proxy: 'http://proxy.test:3128' }
  expect(sharedSettings({ fetch, engine: { nats: ['nats://h'] } }, problems)).toEqual({ fetch })
  expect(problems).toEqual([])
})

test.each(['a.b', '', '-a', 'x'.repeat(65), 'a b'])('%j is no name of a node', (name) => {
  const problems: Problem[] = []
  checkName(name, problems)
  expect(problems).toHaveLength(1)
})
