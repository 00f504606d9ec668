// What the user said becomes one configuration, or all problems at once, each by its place.

import { expect, test } from 'vitest'
import { z } from 'zod'
import { choice, count, duration, durationLimit, limit, patterns, shaped, size, texts, yesNo } from '../base/options.ts'
import { flagText } from './option-rows.ts'
import { type ConfigSources, readConfig } from './read-config.ts'

const SECTIONS = {
  frontier: z.strictObject({
    delay: duration('1s', { text: 'rest', flag: 'delay' }),
    ipDelay: duration('0ms', { text: 'rest', flag: 'ip-delay' }),
    maxPages: limit({ text: 'pages', flag: 'max-pages' }),
    maxTime: durationLimit({ text: 'time', flag: 'max-time' }),
  }),
  url: z.strictObject({
    scope: choice(['host', 'domain'], 'host', { text: 'scope', flag: 'scope' }),
    include: patterns({ text: 'include', flag: 'include' }),
  }),
  fetch: z.strictObject({
    connections: count(8, { text: 'connections', flag: 'connections' }, { min: 1, max: 100 }),
    allowPrivate: yesNo(false, { text: 'private', flag: 'allow-private' }),
    dns: texts({ text: 'servers', flag: 'dns' }),
    tls: choice(['verify', 'accept-any'], 'verify', { text: 'certificates' }),
    bodyMax: size('1MiB', { text: 'body' }),
    logins: shaped(
      z.array(z.strictObject({ host: z.string(), kind: z.enum(['basic', 'digest']) })).default([]),
      { text: 'logins' },
      'none',
    ),
    headers: shaped(z.record(z.string().regex(/^\w+$/, 'not a name'), z.string()).default({}), { text: 'h' }, 'none'),
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
    frontier: { delay: 1_000, ipDelay: 0, maxPages: null, maxTime: null },
    url: { scope: 'host', include: [] },
    fetch: {
      connections: 8,
      allowPrivate: false,
      dns: [],
      tls: 'verify',
      bodyMax: 1_048_576,
      logins: [],
      headers: {},
    },
  })
})

test('the command line wins over the environment, the environment over the file, the file over the default', () => {
  const file = { name: 'f', content: { frontier: { delay: '2s', ipDelay: '3s' }, fetch: { connections: 2 } } }
  const environment = { PORTOLAN_DELAY: '4s', PORTOLAN_IP_DELAY: '5s' }
  const config = configOf({ file, environment, flagsOf: { delay: '6s' } })
  expect(config.frontier).toMatchObject({ delay: 6_000, ipDelay: 5_000 })
  expect(config.fetch.connections).toBe(2)
})

test('lists repeat, a flag alone means yes, and =false means no', () => {
  expect(configOf({ flagsOf: { dns: ['1.1.1.1', '9.9.9.9'], 'allow-private': true } }).fetch).toMatchObject({
    dns: ['1.1.1.1', '9.9.9.9'],
    allowPrivate: true,
  })
  expect(configOf({ flagsOf: { 'allow-private': 'false' } }).fetch.allowPrivate).toBe(false)
})

test('none lifts a limit that another place has set, and is no value of anything else', () => {
  const file = { name: 'f', content: { frontier: { maxPages: 5, maxTime: '5m' } } }
  const result = read({ file, flagsOf: { 'max-pages': 'none' }, environment: { PORTOLAN_MAX_TIME: 'None' } })
  expect(result).toMatchObject({
    config: { frontier: { maxPages: null, maxTime: null } },
    said: { frontier: { maxPages: null, maxTime: null } },
  })
  expect(problemsOf({ flagsOf: { connections: 'none', delay: 'none' } })).toHaveLength(2)
})

test('an empty text empties a list; what is said after it counts', () => {
  const file = { name: 'f', content: { url: { include: ['a'] }, fetch: { dns: ['1.1.1.1'] } } }
  expect(configOf({ file }).url.include).toHaveLength(1)
  const cleared = configOf({ file, flagsOf: { include: [''] }, environment: { PORTOLAN_DNS: '' } })
  expect([cleared.url.include, cleared.fetch.dns]).toEqual([[], []])
  expect(configOf({ file, flagsOf: { dns: ['8.8.8.8', '', '9.9.9.9'] } }).fetch.dns).toEqual(['9.9.9.9'])
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
    'PORTOLAN_IP_DELAI: unknown; did you mean PORTOLAN_IP_DELAY? (only options with a flag can come from the environment)',
    '--dealy: unknown; did you mean --delay?',
    "--delay: '30' is not a duration; write it with a unit, like 250ms, 1s, 10m",
    "--scope: 'hots' is not one of host, domain; did you mean host?",
    expect.stringContaining("--include: '(' is not a regular expression"),
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

test.for([
  ['1', true],
  ['on', true],
  ['YES', true],
  ['true', true],
  ['0', false],
  ['off', false],
  ['No', false],
  ['false', false],
] as const)('%s in the environment is %s', ([text, isYes]) => {
  const file = { name: 'f', content: { fetch: { allowPrivate: !isYes } } }
  expect(configOf({ environment: { PORTOLAN_ALLOW_PRIVATE: text }, file }).fetch.allowPrivate).toBe(isYes)
})

test('a name is guessed only when it is near, and the prefix of the environment makes nothing near', () => {
  expect(problemsOf({ flagsOf: { dsn: '1', tzx: '1' } })).toEqual([
    '--dsn: unknown; did you mean --dns?',
    '--tzx: unknown',
  ])
  expect(problemsOf({ environment: { PORTOLAN_CA_FILE: 'x' } })).toEqual([
    'PORTOLAN_CA_FILE: unknown; only options with a flag can come from the environment',
  ])
})

test('of a value that can be written in several ways, the complaint is about the one that was meant', () => {
  const sections = {
    frontier: z.strictObject({
      rules: shaped(
        z.array(z.strictObject({ hosts: z.union([z.string().max(3), z.array(z.string().max(3)).min(1)]) })).default([]),
        { text: 'rules' },
        'none',
      ),
    }),
  }
  const told = (hosts: unknown): string => {
    const file = { name: 'c', content: { frontier: { rules: [{ hosts }] } } }
    const result = readConfig(sections, { flags: new Map(), environment: {}, file })
    return result.kind === 'problems' ? result.problems.map(({ what }) => what).join('; ') : ''
  }
  expect(told(['a', 'long'])).toBe("'long' is too large; the most is 3")
  expect(told('long')).toBe("'long' is too large; the most is 3")
  expect(told(5)).toBe('5 is not a text or a list')
  expect(told(undefined)).toBe('is missing')
})

test('a switch is turned off by its name', () => {
  expect(problemsOf({ flagsOf: { 'no-allow-private': true, 'no-delay': true } })).toEqual([
    '--no-allow-private: is written --allow-private=no',
    expect.stringContaining('--no-delay: unknown'),
  ])
  const facts = { text: '', flag: 'cache', kind: 'yes-no', defaultText: 'yes' } as const
  expect(flagText(facts)).toBe('--cache=no')
  expect(flagText({ ...facts, defaultText: 'no' })).toBe('--cache')
})

test('an option that has no flag is named with the place it goes to', () => {
  expect(problemsOf({ flagsOf: { tls: 'verify' }, environment: { PORTOLAN_BODY_MAX: '1MiB' } })).toEqual([
    'PORTOLAN_BODY_MAX: only options with a flag can come from the environment; set fetch.bodyMax in a file named by --config',
    '--tls: there is no such flag; set fetch.tls in a file named by --config',
  ])
})

test('what is wrong deep in a file is told in words: missing, misnamed, of the wrong kind', () => {
  const content = {
    frontier: { delay: 5 },
    fetch: {
      logins: [{ kind: 'basic' }, { host: 'a' }, { host: 'a', kind: 'basic', x: 1 }],
      headers: { 'a b': 'c' },
      bodyMax: 5,
    },
  }
  expect(problemsOf({ file: { name: 'c', content } })).toEqual([
    'frontier.delay in c: 5 is not a duration; write it as text with a unit, like "1s"',
    'fetch.bodyMax in c: 5 is not a size; write it as text with a unit, like "1GiB"',
    'fetch.logins in c (0.host): is missing',
    'fetch.logins in c (1.kind): is missing',
    "fetch.logins in c (2): 'x' is unknown here",
    'fetch.headers in c (a b): not a name',
  ])
})

test('a configuration cannot be changed afterwards', () => {
  const config = configOf({})
  expect(() => Object.assign(config.frontier, { delay: 0 })).toThrow(TypeError)
  expect(() => config.fetch.dns.push('x')).toThrow(TypeError)
})
