// What is published works without the sources: compiled, installed beside its dependencies, it crawls.

import { spawnSync } from 'node:child_process'
import { cpSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../crawl/run-crawl.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the compiled package shows its version and runs the demo', () => {
  const folder = temporaryDirectory(onTestFinished)
  const compiled = spawnSync(
    join(root, 'node_modules/.bin/tsc'),
    ['-p', join(root, 'tsconfig.build.json'), '--outDir', join(folder, 'dist')],
    { encoding: 'utf8' },
  )
  expect(compiled.stdout).toBe('')
  for (const part of ['bin', 'package.json']) cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'bin/portolan.js'), ...args], { encoding: 'utf8' })
  expect(run('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  const demo = run('demo', '--dir', join(folder, 'demo'), '--json')
  expect(demo.status, demo.stderr).toBe(0)
  expect(JSON.parse(demo.stdout)).toMatchObject({ stoppedBecause: 'finished' })
})
