// The launcher explains itself on a Node that is too old, instead of dying of its syntax.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'

const source = readFileSync(fileURLToPath(new URL('../../bin/portolan.js', import.meta.url)), 'utf8')

test('before the version is checked, only what every Node with modules has is imported', () => {
  const beforeCheck = source.slice(0, source.indexOf('process.exit('))
  const imports = [...beforeCheck.matchAll(/^import .* from '(.+)'$/gm)].map((match) => match[1])
  expect(imports).toEqual(['node:fs', 'node:url'])
  expect(beforeCheck).not.toMatch(/\?\?=|\|\|=|&&=|#[a-z]|\bfrom 'node:(module|v8)'/)
})

test('an old version gets words and exit code 2', () => {
  const lines: string[] = []
  let code: number | null = null
  const oldProcess = {
    versions: { node: '18.19.0' },
    argv: ['node', '/x/bin/portolan.js'],
    stderr: { write: (text: string) => lines.push(text) },
    exit: (value: number) => {
      code ??= value
      throw new Error('ended')
    },
  }
  const body = source
    // Up to the end of the check: behind it only new ones read on.
    .slice(source.indexOf('const NEEDED'), source.indexOf('\n}\n') + 2)
    .replaceAll('import.meta.url', `'${new URL('../../bin/portolan.js', import.meta.url).href}'`)
  const world = { process: oldProcess, existsSync: () => true, fileURLToPath, URL }
  expect(() => void runInNewContext(`(() => {${body}})()`, world)).toThrow('ended')
  expect(code).toBe(2)
  expect(lines.join('')).toContain('this is 18.19.0')
  expect(lines.join('')).toContain('npx portolan')
})
