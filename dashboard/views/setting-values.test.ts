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
      expect(fromTyped(asTyped(value, editor, schema), editor, schema)).toEqual(JSON.parse(JSON.stringify(value)))
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

test('of an option that was never said one begins with what is usual', () => {
  const schema = { default: ['a', 'img'], type: 'array', items: { type: 'string', enum: ['a', 'img'] } }
  const editor = editorOf(schema, null)
  expect(editor).toEqual({ kind: 'lines' })
  expect(asTyped(null, editor, schema)).toBe('a\nimg')
})

test('none is no limit, where there may be none', () => {
  const schema = { default: null, anyOf: [{ type: 'integer' }, { type: 'null' }] }
  expect(fromTyped(asTyped(null, { kind: 'text' }, schema), { kind: 'text' }, schema)).toBeNull()
  expect(fromTyped('none', { kind: 'text' }, { type: 'string' })).toBe('none')
})

test('a rule that refers to itself is written as JSON', () => {
  expect(editorOf({ anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] }, null)).toEqual({ kind: 'json' })
})

test('what is no JSON is said so before anybody is asked', () => {
  expect(() => fromTyped('{', { kind: 'json' }, {})).toThrow('This is not JSON')
})
