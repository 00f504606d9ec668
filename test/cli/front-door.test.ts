// The front door: help that teaches, commands found by name, and an old Node that is told what to do.

import { expect, test } from 'vitest'
import { COMMANDS } from '../../src/cli/commands.ts'
import { portolan } from './portolan.ts'

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

test('the demo crawls its own web offline and says where the report is', async () => {
  const { code, stdout, stderr } = await portolan(['demo', '--json'])
  expect(code, stderr).toBe(0)
  const result = JSON.parse(stdout) as { pages: number; dir: string; stoppedBecause: string }
  expect(result.stoppedBecause).toBe('finished')
  expect(result.pages).toBeGreaterThan(500)
  expect(stderr).toContain(`${result.dir}/report.html`)
})
