import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judgeDependencies, type LockFile, type Manifest, pathOf } from './dependencies.ts'

const read = (file: string): unknown => JSON.parse(readFileSync(pathOf(file), 'utf8'))
const lock = read('package-lock.json') as LockFile
const manifest = read('package.json') as Manifest
const explained = readFileSync(pathOf('docs/dependencies.md'), 'utf8')

test('every package is locked by its hash, shipped ones may be passed on, none runs a script unasked, each is explained', () => {
  expect(judgeDependencies(lock, manifest, explained)).toEqual([])
})

test.each<[change: object, words: string]>([
  [{ license: 'GPL-3.0', integrity: 'sha512-x' }, 'its licence is GPL-3.0'],
  [{ integrity: 'sha512-x' }, 'its licence is no licence'],
  [{ license: 'MIT' }, 'no sha512'],
  [{ license: 'MIT', integrity: 'sha1-x' }, 'no sha512'],
  [{ license: 'MIT', integrity: 'sha512-x', hasInstallScript: true }, 'has an install script'],
])('a package of %j is complained of', (change, words) => {
  const packages = { ...lock.packages, 'node_modules/evil': change }
  expect(judgeDependencies({ packages }, manifest, explained)).toEqual([expect.stringContaining(words)])
})

test('a package that nobody explained is complained of', () => {
  const more = { ...manifest, dependencies: { ...manifest.dependencies, unheard: '1' } }
  expect(judgeDependencies(lock, more, explained)).toEqual([expect.stringContaining('unheard')])
})
