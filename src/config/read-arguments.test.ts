// The command line is taken apart without losing or guessing anything.

import { expect, test } from 'vitest'
import { readArguments } from './read-arguments.ts'

const SHAPES = new Map([
  ['delay', { takesValue: true, repeats: false }],
  ['include', { takesValue: true, repeats: true }],
  ['json', { takesValue: false, repeats: false }],
])

const read = (...args: string[]) => readArguments(args, SHAPES)

test('flags, values and words in any order', () => {
  const { flags, words, problems } = read(
    'http://a/',
    '--delay',
    '1s',
    '--json',
    'http://b/',
    '--include=x',
    '--include',
    'y',
  )
  expect(Object.fromEntries(flags)).toEqual({ delay: '1s', json: true, include: ['x', 'y'] })
  expect(words).toEqual(['http://a/', 'http://b/'])
  expect(problems).toEqual([])
})

test('after -- everything is a word', () => {
  expect(read('--', '--delay', '-x').words).toEqual(['--delay', '-x'])
})

test('a flag without its value is a problem, also when another flag follows', () => {
  expect(read('--delay').problems).toEqual([{ where: '--delay', what: 'needs a value' }])
  expect(read('--delay', '--json').problems).toEqual([{ where: '--delay', what: 'needs a value' }])
})

test('a flag given twice that takes one value is a problem', () => {
  expect(read('--delay', '1s', '--delay', '2s').problems).toEqual([{ where: '--delay', what: 'is given twice' }])
})

test('an unknown flag is kept under its name, and what follows it is not taken for a word', () => {
  const { flags, words } = read('http://a/', '--dealy', '1s', 'http://b/')
  expect([...flags]).toEqual([['dealy', true]])
  expect(words).toEqual(['http://a/', 'http://b/'])
})
