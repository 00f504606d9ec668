// Options are declared once; what they refuse they refuse with a reason.

import { expect, test } from 'vitest'
import { z } from 'zod'
import {
  choice,
  count,
  countOrWord,
  duration,
  durationLimit,
  factorLimit,
  limit,
  optionFacts,
  patterns,
  size,
  sizeLimit,
  text,
  yesNo,
} from './options.ts'

const schema = z.strictObject({
  delay: duration('1s', { text: 'rest', flag: 'delay' }, { minMs: 10, maxMs: 60_000 }),
  body: size('64MiB', { text: 'limit' }, 65_536),
  memory: size('1GiB', { text: 'memory' }, 320 * 2 ** 20),
  time: durationLimit({ text: 'time' }),
  name: text('', { text: 'name' }, (value) => (value === 'nobody' ? 'nobody is not a name' : null)),
  hosts: count(4, { text: 'hosts' }, { min: 1, max: 10 }),
  level: countOrWord('fast', { text: 'level' }, { min: 1, max: 9 }),
  pages: limit({ text: 'pages' }),
  rate: factorLimit({ text: 'rate' }, 0.01),
  bandwidth: sizeLimit({ text: 'bandwidth' }, 1_024),
  scope: choice(['host', 'domain'], 'host', { text: 'scope' }),
  verify: yesNo(true, { text: 'verify' }),
  include: patterns({ text: 'include' }),
})

test('what is not said takes its default, in the unit the code works with', () => {
  expect(schema.parse({})).toEqual({
    delay: 1_000,
    body: 67_108_864,
    memory: 2 ** 30,
    time: null,
    name: '',
    hosts: 4,
    level: 'fast',
    pages: null,
    rate: null,
    bandwidth: null,
    scope: 'host',
    verify: true,
    include: [],
  })
})

test.for([
  [{ delay: '30' }, 'with a unit'],
  [{ delay: '1ms' }, "'1ms' is too short; the least is 10ms"],
  [{ delay: '2m' }, "'2m' is too long; the most is 1m"],
  [{ delay: '-1s' }, "'-1s' must not be negative"],
  [{ delay: '-1' }, 'with a unit'],
  [{ body: '0' }, "'0' is too small; the least is 64 KiB"],
  [{ body: '-1MiB' }, "'-1MiB' must not be negative"],
  [{ body: '64' }, 'with a unit, like 512KiB, 64MiB, 1GiB"'],
  [{ memory: '64' }, 'with a unit, like 1GiB, 4GiB"'],
  [{ time: '0s' }, "'0s' must be more than 0"],
  [{ time: '-5m' }, "'-5m' must be more than 0"],
  [{ time: '5' }, 'with a unit'],
  [{ name: 'nobody' }, 'nobody is not a name'],
  [{ rate: 0 }, '>=0.01'],
  [{ rate: '5' }, 'number'],
  [{ bandwidth: '100B' }, "'100B' is too small; the least is 1 KiB"],
  [{ bandwidth: '10Mbit' }, 'with a unit, like 512KiB, 64MiB, 1GiB"'],
  [{ bandwidth: '-1MB' }, "'-1MB' must not be negative"],
  [{ hosts: 0 }, '>=1'],
  [{ hosts: 1.5 }, 'int'],
  [{ level: 10 }, '<=9'],
  [{ level: 'slow' }, 'fast'],
  [{ scope: 'galaxy' }, 'host'],
  [{ include: ['('] }, 'regular expression'],
  [{ unknown: 1 }, 'unknown'],
] as const)('%j is refused with its reason', ([input, reason]) => {
  const result = schema.safeParse(input)
  expect(result.success).toBe(false)
  expect(JSON.stringify(result.error?.issues)).toContain(reason)
})

test('limits are off when they are null, and else in the unit the code works with', () => {
  const said = { rate: 0.5, bandwidth: '10MB', pages: 7 }
  expect(schema.parse(said)).toMatchObject({ rate: 0.5, bandwidth: 10_000_000, pages: 7 })
  const none = { rate: null, bandwidth: null, pages: null }
  expect(schema.parse(none)).toMatchObject(none)
})

test('what is a number or a word may be either', () => {
  for (const level of [1, 9, 'fast']) expect(schema.parse({ level })).toMatchObject({ level })
})

test('every option knows its text, default and flag', () => {
  expect(optionFacts(schema.shape.delay)).toMatchObject({
    text: 'rest',
    flag: 'delay',
    defaultText: '1s',
    kind: 'duration',
  })
  expect(optionFacts(schema.shape.pages)).toMatchObject({
    defaultText: 'no limit',
    placeholder: 'N|none',
    isLimit: true,
  })
  expect(optionFacts(schema.shape.time)).toMatchObject({ placeholder: 'DURATION|none', isLimit: true })
  expect(optionFacts(schema.shape.rate)).toMatchObject({ kind: 'number', placeholder: 'X|none', isLimit: true })
  expect(optionFacts(schema.shape.bandwidth)).toMatchObject({ kind: 'size', placeholder: 'SIZE|none', isLimit: true })
  expect(optionFacts(schema.shape.hosts)?.isLimit).toBe(undefined)
})
