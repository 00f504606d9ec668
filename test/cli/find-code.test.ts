// A bundle is a copy of the sources: it is run only while it is one of those that are there.

import { appendFileSync, cpSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../crawl/run-crawl.ts'

const SOURCE = 'src/one.ts'

/** A clone with one source and a bundle of it; `prepare` does something to them. Returns which code is found. */
async function found(prepare: (folder: string) => void = () => {}): Promise<string> {
  const folder = temporaryDirectory(onTestFinished)
  cpSync(join(import.meta.dirname, '../../bin'), join(folder, 'bin'), { recursive: true })
  for (const part of ['src', '.bundle']) mkdirSync(join(folder, part))
  writeFileSync(join(folder, SOURCE), 'export const one = 1')
  const { mtimeMs, size } = statSync(join(folder, SOURCE))
  writeFileSync(join(folder, '.bundle/made-of.json'), JSON.stringify({ [SOURCE]: [mtimeMs, size] }))
  prepare(folder)
  const module = pathToFileURL(join(folder, 'bin/find-code.js')).href
  const { findCode } = (await import(module)) as { findCode: (path: string) => URL }
  return findCode('src/one').href.slice(pathToFileURL(folder).href.length)
}

test('the bundle is run while the sources are as they were', async () => {
  expect(await found()).toBe('/.bundle/src/one.cjs')
})

test.for<[what: string, prepare: (folder: string) => void]>([
  ['one has changed', (folder) => appendFileSync(join(folder, SOURCE), ' ')],
  ['one has changed and is as long as before', (folder) => writeFileSync(join(folder, SOURCE), 'export const one = 2')],
  ['one is older than it was', (folder) => utimesSync(join(folder, SOURCE), 1, 1)],
  ['one is gone', (folder) => rmSync(join(folder, SOURCE))],
  ['there is no bundle', (folder) => rmSync(join(folder, '.bundle'), { recursive: true })],
  ['it is not known what it was made of', (folder) => writeFileSync(join(folder, '.bundle/made-of.json'), '{"src')],
])('the sources are run where %s', async ([, prepare]) => {
  expect(await found(prepare)).toBe('/src/one.ts')
})

test('what is published comes before all', async () => {
  const path = await found((folder) => {
    mkdirSync(join(folder, 'dist/src'), { recursive: true })
    writeFileSync(join(folder, 'dist/src/one.js'), '')
  })
  expect(path).toBe('/dist/src/one.js')
})
