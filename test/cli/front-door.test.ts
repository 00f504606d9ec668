// The front door: help that teaches, commands found by name, and an old Node that is told what to do.

import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { describe, expect, onTestFinished, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { LAUNCHER, portolan } from './portolan.ts'

test('without a command the list of commands is shown', async () => {
  const { code, stdout } = await portolan([])
  expect(code).toBe(2)
  for (const { name } of COMMANDS) expect(stdout).toContain(`  ${name} `)
})

test.for(COMMANDS.map((command) => command.name))('%s --help teaches by example', async (name) => {
  const { code, stdout, stderr } = await portolan([name, '--help'])
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout).toContain('Examples')
  expect(stdout).toContain(`portolan ${name}`)
})

test('a misspelt command is guessed, a bare URL too', async () => {
  const { code, stderr } = await portolan(['crwal'])
  expect(code).toBe(2)
  expect(stderr).toContain(`did you mean 'crawl'?`)
  expect((await portolan(['https://example.org/'])).stderr).toContain(`portolan crawl https://example.org/`)
})

test('--version prints the version alone', async () => {
  const { stdout } = await portolan(['--version'])
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
})

test('bench knows its benches, and guesses a misspelt one', async () => {
  const { code, stderr } = await portolan(['bench', 'robts'], { isFromSources: true })
  expect(code).toBe(2)
  expect(stderr).toContain('did you mean robots?')
})

describe('an output that cannot be written', () => {
  test('a reader who leaves early is met with silence, and the command ends as it would have', async () => {
    const child = spawn(process.execPath, [LAUNCHER, 'links', '-', '--base', 'http://a.test/'])
    let stderr = ''
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
    child.stdout.destroy()
    await once(child.stdout, 'close')
    // Only now it gets something to print.
    child.stdin.end('<a href=b>')
    const [code] = (await once(child, 'close')) as [number]
    expect([code, stderr]).toEqual([0, ''])
  })

  test('nobody to hear complaints: the exit code still tells', async () => {
    const child = spawn(process.execPath, [LAUNCHER, 'crawl', '--seeds', '-'])
    child.stderr.destroy()
    await once(child.stderr, 'close')
    // Only now it gets something to complain of.
    child.stdin.end('mailto:a@a.test\n')
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(2)
  })

  describe.skipIf(!existsSync('/dev/full'))('(on a system with /dev/full)', () => {
    test.for([[['crawl', '--help']], [['url', 'http://a.test/']]])(
      '%j > /dev/full is one line and exit code 1',
      async ([args = []]) => {
        const full = openSync('/dev/full', 'w')
        onTestFinished(() => closeSync(full))
        const child = spawn(process.execPath, [LAUNCHER, ...args], { stdio: ['ignore', full, 'pipe'] })
        let stderr = ''
        child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
        const [code] = (await once(child, 'close')) as [number]
        expect([code, stderr]).toEqual([1, 'portolan: standard output cannot be written (ENOSPC)\n'])
      },
    )

    test('a full disk behind both is silent, and no success', async () => {
      const full = openSync('/dev/full', 'w')
      onTestFinished(() => closeSync(full))
      const child = spawn(process.execPath, [LAUNCHER, '--version'], { stdio: ['ignore', full, full] })
      const [code] = (await once(child, 'close')) as [number]
      expect(code).toBe(1)
    })
  })
})
