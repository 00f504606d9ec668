// What is shown of an option and typed again is the same option.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { asTyped, editorOf, fromTyped } from './setting-values.ts'

const texts = { type: 'array', items: { type: 'string' } }
const line = fc
  .string({ minLength: 1 })
  .map((text) => text.replaceAll(/\s/g, ''))
  .filter((text) => text !== '')
const KINDS: readonly (readonly [unknown, fc.Arbitrary<unknown>])[] = [
  [texts, fc.array(line)],
  [{ type: 'integer' }, fc.integer()],
  [{ type: 'boolean' }, fc.boolean()],
  [{ enum: ['host', 'domain'] }, fc.constantFrom('host', 'domain')],
  [{ type: 'string' }, line],
  [{ anyOf: [{ type: 'string' }, { type: 'number' }] }, fc.integer()],
  [{ type: 'array', items: { type: 'object' } }, fc.array(fc.dictionary(line, fc.jsonValue()))],
]

test.each(KINDS)('an option of %j comes back as it was', (schema, values) => {
  fc.assert(
    fc.property(values, (value) => {
      const editor = editorOf(schema, value)
      expect(fromTyped(asTyped(value, editor), editor, schema)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

test('choices are offered where the schema names them all', () => {
  expect(editorOf({ anyOf: [{ const: 'a' }, { enum: ['b', 'c'] }] }, 'a')).toEqual({
    kind: 'choice',
    choices: ['a', 'b', 'c'],
  })
  expect(editorOf({ anyOf: [{ const: 'none' }, { type: 'integer' }] }, 3)).toEqual({ kind: 'text' })
  expect(editorOf({ type: 'boolean' }, true)).toEqual({ kind: 'choice', choices: ['true', 'false'] })
})

test('what is no JSON is said so before anybody is asked', () => {
  expect(() => fromTyped('{', { kind: 'json' }, {})).toThrow('This is not JSON')
})
