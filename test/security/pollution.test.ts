// Names that mean something to the language mean nothing in what others write: configurations, settings, tdmrep.json.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { readConfig, SECTIONS } from '../../src/config/index.ts'
import { mergeSaid, type Said } from '../../src/cli/stored-settings.ts'
import { parseTdmFile } from '../../src/robots/index.ts'

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']

function read(text: string): ReturnType<typeof readConfig<typeof SECTIONS>> {
  const content = JSON.parse(text) as unknown
  return readConfig(SECTIONS, { flags: new Map(), environment: {}, file: { name: 'test', content } })
}

function expectUntouched(): void {
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
}

test.each([
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"agent":{"__proto__":{"polluted":1}}}',
  '{"agent":{"constructor":{"prototype":{"polluted":1}}}}',
  '{"fetch":{"headers":{"__proto__":"polluted"}}}',
  '{"robots":{"optOuts":{"__proto__":{"polluted":1}}}}',
  '{"url":{"filter":{"__proto__":{"pattern":"(a+)+"}}}}',
])('a configuration %s changes no object but its own', (text) => {
  const result = read(text)
  if (result.kind === 'config') {
    expect(Object.getPrototypeOf(result.config.agent)).toBe(Object.prototype)
    expect(result.config.agent).not.toHaveProperty('polluted')
  }
  expectUntouched()
})

test('settings that are joined change no object but their own', () => {
  const said = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as Said
  mergeSaid(said, said)
  expectUntouched()
})

test('whatever stands in a tdmrep.json', () => {
  const key = fc.oneof(fc.constantFrom(...NAMES, 'location', 'tdm-reservation', 'tdm-policy'), fc.string())
  fc.assert(
    fc.property(fc.array(fc.dictionary(key, fc.jsonValue(), { noNullPrototype: false })), (content) => {
      for (const rule of parseTdmFile(Buffer.from(JSON.stringify(content)))) {
        expect(Object.keys(rule)).toEqual(['path', 'isReserved', 'policy'])
      }
    }),
  )
  expectUntouched()
})
