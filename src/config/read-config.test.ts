// What the user said becomes one configuration, or all problems at once, each by its place.

import { expect, test } from 'vitest'
import { z } from 'zod'
import { choice, count, duration, patterns, texts, yesNo } from '../base/index.ts'
import { type ConfigSources, readConfig } from './read-config.ts'

const SECTIONS = {
  frontier: z.strictObject({
    delay: duration('1s', { text: 'rest', flag: 'delay' }),
    ipDelay: duration('0ms', { text: 'rest', flag: 'ip-delay' }),
  }),
  url: z.strictObject({
    scope: choice(['host', 'domain'], 'host', { text: 'scope', flag: 'scope' }),
    include: patterns({ text: 'include', flag: 'include' }),
  }),
  fetch: z.strictObject({
    connections: count(8, { text: 'connections', flag: 'connections' }, { min: 1, max: 100 }),
    allowPrivate: yesNo(false, { text: 'private', flag: 'allow-private' }),
    dns: texts({ text: 'servers', flag: 'dns' }),
  }),
}

const read = (sources: Partial<ConfigSources> & { flagsOf?: Record<string, string | true | string[]> }) =>
  readConfig(SECTIONS, {
    flags: new Map(Object.entries(sources.flagsOf ?? {})),
    environment: sources.environment ?? {},
    file: sources.file ?? null,
  })

const configOf = (sources: Parameters<typeof read>[0]) => {
  const result = read(sources)
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems))
  return result.config
}

const problemsOf = (sources: Parameters<typeof read>[0]): string[] => {
  const result = read(sources)
  return result.kind === 'problems' ? result.problems.map(({ where, what }) => `${where}: ${what}`) : []
}

test('nothing said is all defaults', () => {
  expect(configOf({})).toEqual({
    frontier: { delay: 1_000, ipDelay: 0 },
    url: { scope: 'host', include: [] },
    fetch: { connections: 8, allowPrivate: false, dns: [] },
  })
})

test('the command line wins over the environment, the environment over the file, the file over the default', () => {
  const file = { name: 'f', content: { frontier: { delay: '2s', ipDelay: '3s' }, fetch: { connections: 2 } } }
  const environment = { PORTOLAN_DELAY: '4s', PORTOLAN_IP_DELAY: '5s' }
  const config = configOf({ file, environment, flagsOf: { delay: '6s' } })
  expect(config.frontier).toEqual({ delay: 6_000, ipDelay: 5_000 })
  expect(config.fetch.connections).toBe(2)
})

test('lists repeat, a flag alone means yes, and =false means no', () => {
  expect(configOf({ flagsOf: { dns: ['1.1.1.1', '9.9.9.9'], 'allow-private': true } }).fetch).toMatchObject({
    dns: ['1.1.1.1', '9.9.9.9'],
    allowPrivate: true,
  })
  expect(configOf({ flagsOf: { 'allow-private': 'false' } }).fetch.allowPrivate).toBe(false)
})

test('all problems come at once, each with its place and the nearest right thing', () => {
  expect(
    problemsOf({
      flagsOf: { dealy: '1s', delay: '30', scope: 'hots', connections: 'many', include: ['('] },
      environment: { PORTOLAN_IP_DELAI: '1s', PATH: '/bin' },
      file: { name: 'c.json', content: { frontier: { ipdelay: '1s' }, fecth: {}, scope: 'host', url: 3 } },
    }),
  ).toEqual([
    'frontier.ipdelay in c.json: unknown; did you mean ipDelay?',
    'fecth in c.json: unknown; did you mean fetch?',
    'scope in c.json: belongs into a section: "url": { "scope": … }',
    'url in c.json: must be an object of options',
    'PORTOLAN_IP_DELAI: unknown; did you mean PORTOLAN_IP_DELAY?',
    '--dealy: unknown; did you mean --delay?',
    "--delay: '30' is not a duration; write it with a unit, like 250ms, 1s, 10m",
    "--scope: 'hots' is not one of host, domain; did you mean host?",
    expect.stringContaining("--include (0): '(' is not a regular expression"),
    "--connections: 'many' is not a number",
  ])
})

test.for([
  [{ connections: '0' }, '--connections: 0 is too small; the least is 1'],
  [{ connections: '1000' }, '--connections: 1000 is too large; the most is 100'],
  [{ connections: '1.5' }, '--connections: 1.5 is not a whole number'],
  [{ 'allow-private': 'maybe' }, "--allow-private: 'maybe' is not true or false"],
] as const)('%j is refused', ([flagsOf, complaint]) => {
  expect(problemsOf({ flagsOf: { ...flagsOf } })).toEqual([complaint])
})

test('a configuration cannot be changed afterwards', () => {
  const config = configOf({})
  expect(() => Object.assign(config.frontier, { delay: 0 })).toThrow(TypeError)
  expect(() => config.fetch.dns.push('x')).toThrow(TypeError)
})
