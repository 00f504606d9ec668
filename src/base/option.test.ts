// Options are declared once; what they refuse they refuse with a reason.

import { expect, test } from 'vitest'
import { z } from 'zod'
import { choice, count, duration, limit, optionFacts, patterns, size, yesNo } from './option.ts'

const schema = z.strictObject({
  delay: duration('1s', { text: 'rest', flag: 'delay' }, { minMs: 10, maxMs: 60_000 }),
  body: size('64MiB', { text: 'limit' }, 1),
  hosts: count(4, { text: 'hosts' }, { min: 1, max: 10 }),
  pages: limit({ text: 'pages' }),
  scope: choice(['host', 'domain'], 'host', { text: 'scope' }),
  verify: yesNo(true, { text: 'verify' }),
  include: patterns({ text: 'include' }),
})

test('what is not said takes its default, in the unit the code works with', () => {
  expect(schema.parse({})).toEqual({
    delay: 1_000,
    body: 67_108_864,
    hosts: 4,
    pages: null,
    scope: 'host',
    verify: true,
    include: [],
  })
})

test.for([
  [{ delay: '30' }, 'with a unit'],
  [{ delay: '1ms' }, 'out of range'],
  [{ delay: '2m' }, 'out of range'],
  [{ body: '0' }, 'least possible'],
  [{ hosts: 0 }, '>=1'],
  [{ hosts: 1.5 }, 'int'],
  [{ scope: 'galaxy' }, 'host'],
  [{ include: ['('] }, 'regular expression'],
  [{ unknown: 1 }, 'unknown'],
] as const)('%j is refused with its reason', ([input, reason]) => {
  const result = schema.safeParse(input)
  expect(result.success).toBe(false)
  expect(JSON.stringify(result.error?.issues)).toContain(reason)
})

test('every option knows its text, default and flag', () => {
  expect(optionFacts(schema.shape.delay)).toMatchObject({
    text: 'rest',
    flag: 'delay',
    defaultText: '1s',
    kind: 'duration',
  })
  expect(optionFacts(schema.shape.pages)).toMatchObject({ defaultText: 'no limit' })
})
