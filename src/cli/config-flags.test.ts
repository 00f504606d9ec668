// A configuration file is read by its ending, and what is wrong with it fits on one line.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { BARE, loadConfigFile, printProblems, readOwnArguments, VALUED } from './config-flags.ts'

function written(name: string, text: string): string {
  const path = join(temporaryDirectory(onTestFinished), name)
  writeFileSync(path, text)
  return path
}

test('JSON and modules are read, a byte order mark does not matter', async () => {
  const content = { frontier: { delay: '2s' } }
  const json = written('c.json', `\uFEFF${JSON.stringify(content)}`)
  expect(await loadConfigFile(json)).toEqual({ file: { name: json, content }, problem: null })
  const module = written('c.ts', `const delay: string = '2s'\nexport default { frontier: { delay } }\n`)
  expect(await loadConfigFile(module)).toEqual({ file: { name: module, content }, problem: null })
})

test.for<[name: string, text: string, complaint: string]>([
  ['c.json', '{\n  "a": 1,\n  b: 2\n}', "is not JSON: line 3, column 3: 'b' cannot stand here"],
  ['c.yaml', 'a: 1', 'a file that ends in .yaml is not understood; only .json, .ts and .js are'],
  ['c.js', 'const a = 1', 'has no default export'],
  ['c.mjs', 'throw new Error("one\\ntwo")', 'cannot be run: Error: one'],
])('%s with %j is refused in one line', async ([name, text, complaint]) => {
  const path = written(name, text)
  expect(await loadConfigFile(path)).toEqual({ file: null, problem: { where: `--config ${path}`, what: complaint } })
})

test('a file that is not there, or is a directory, is told so whatever its ending', async () => {
  const folder = temporaryDirectory(onTestFinished)
  mkdirSync(join(folder, 'd.json'))
  const complaintOf = async (name: string) => (await loadConfigFile(join(folder, name))).problem?.what
  expect(await complaintOf('no.json')).toBe('cannot be read: there is no such file')
  expect(await complaintOf('no.ts')).toBe('cannot be read: there is no such file')
  expect(await complaintOf('d.json')).toBe('cannot be read: it is a directory')
})

test('a flag that is unknown, or has a value it does not take, is a problem', () => {
  const shapes = new Map([
    ['base', VALUED],
    ['json', BARE],
  ])
  const { words, problems, value, isSaid } = readOwnArguments(['a', '--bsae=x', '--json=1', '--base'], shapes)
  expect(words).toEqual(['a'])
  expect(problems).toEqual([
    { where: '--base', what: 'needs a value' },
    { where: '--bsae', what: 'unknown; did you mean --base?' },
    { where: '--json', what: 'takes no value' },
  ])
  expect([value('base'), isSaid('base'), isSaid('other')]).toEqual([undefined, true, false])
})

test('problems come one to a line, and nothing in them acts on the terminal', () => {
  let text = ''
  printProblems('url', [{ where: "'\u001b[2J\n'", what: 'x' }], { write: (more) => (text += more) })
  expect(text.split('\n')).toHaveLength(4)
  expect(text).not.toContain('\u001b')
})
