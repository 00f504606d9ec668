// What was compiled of a bundle is kept and used again, and is never anything but that.

import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../crawl/run-crawl.ts'

const LOADER = pathToFileURL(join(import.meta.dirname, '../../bin/load-code.js')).href
const ENTRY = `
const { twice } = require('./other.cjs')
function isSloppy() { return this !== undefined }
exports.answer = [twice(21), isSloppy(), require('node:path').sep]`
const OTHER = `exports.twice = (n) => 2 * n`

/** A bundle of two files, and a process of its own that runs it. */
function bundleIn(folder: string): { readonly kept: string; readonly run: () => unknown } {
  const kept = join(folder, 'kept')
  mkdirSync(kept)
  writeFileSync(join(folder, 'entry.cjs'), ENTRY)
  writeFileSync(join(folder, 'other.cjs'), OTHER)
  const url = pathToFileURL(join(folder, 'entry.cjs')).href
  const code = `const { loadCode } = await import('${LOADER}'); console.log(JSON.stringify((await loadCode('${url}', process.argv[1])).answer))`
  const run = (): unknown =>
    JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', code, kept], { encoding: 'utf8' }))
  return { kept, run }
}

const keptIn = (kept: string): Map<string, Buffer> =>
  new Map(readdirSync(kept).map((name) => [name, readFileSync(join(kept, name))]))

test('a bundle is strict, loads its parts and what is Node’s, and is kept part by part', () => {
  const { kept, run } = bundleIn(temporaryDirectory(onTestFinished))
  expect(run()).toEqual([42, false, '/'])
  expect(keptIn(kept).size).toBe(2)
})

test('what is kept is used as it is while the text is the same', () => {
  const { kept, run } = bundleIn(temporaryDirectory(onTestFinished))
  run()
  const before = keptIn(kept)
  expect(run()).toEqual([42, false, '/'])
  expect(keptIn(kept)).toEqual(before)
})

test('a text that was changed is run as it is now, also where it is as long as before', () => {
  const folder = temporaryDirectory(onTestFinished)
  const { kept, run } = bundleIn(folder)
  run()
  writeFileSync(join(folder, 'other.cjs'), OTHER.replace('2', '3'))
  expect(run()).toEqual([63, false, '/'])
  expect(run()).toEqual([63, false, '/'])
  expect(keptIn(kept).size).toBe(2)
})

test.for<[what: string, damage: (bytes: Buffer) => Uint8Array]>([
  ['is empty', () => Buffer.alloc(0)],
  ['is cut', (bytes) => bytes.subarray(0, bytes.length / 2)],
  ['is all zeros', (bytes) => Buffer.alloc(bytes.length)],
  ['has one bit wrong', (bytes) => bytes.fill((bytes[200] as number) ^ 1, 200, 201)],
])('what is kept is not used where it %s, and is made anew', ([, damage]) => {
  const { kept, run } = bundleIn(temporaryDirectory(onTestFinished))
  run()
  const before = keptIn(kept)
  for (const name of before.keys()) writeFileSync(join(kept, name), damage(readFileSync(join(kept, name))))
  expect(run()).toEqual([42, false, '/'])
  for (const [name, bytes] of keptIn(kept)) expect(bytes.length).toBeGreaterThan((before.get(name)?.length ?? 0) / 2)
})
