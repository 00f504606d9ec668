// What is published works without the sources: compiled, installed beside its dependencies, it crawls.

import { spawnSync } from 'node:child_process'
import { cpSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../crawl/run-crawl.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the compiled package shows its version; its demo crawls its own web offline and says where the report is', () => {
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
  const demo = run('demo', '--json')
  expect(demo.status, demo.stderr).toBe(0)
  const result = JSON.parse(demo.stdout) as { pages: number; dir: string; stoppedBecause: string }
  onTestFinished(() => rmSync(result.dir, { recursive: true }))
  expect(result.stoppedBecause).toBe('finished')
  expect(result.pages).toBeGreaterThan(500)
  expect(demo.stderr).toContain(`${result.dir}/report.html`)
})
