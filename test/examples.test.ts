// Examples that rot are worse than none: every command of every example runs, with the test web in
// the place of example.org and example.net.

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startTestWeb } from '../testweb/index.ts'
import { portolan } from './cli/portolan.ts'
import { temporaryDirectory } from './crawl/run-crawl.ts'

const folder = fileURLToPath(new URL('../examples', import.meta.url))
const examples = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())

/** Words of a command line, as a shell would split them. */
function words(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? '')
}

test.for(examples.map((entry) => entry.name))('%s runs as written', async (name) => {
  const web = await startTestWeb({ hosts: 2, pages: 60, robots: { some: 1 } })
  onTestFinished(() => web.stop())
  const [first = '', second = ''] = web.seeds()
  const here = (text: string): string =>
    text.replaceAll('https://example.org/', first).replaceAll('https://example.net/', second)
  const cwd = temporaryDirectory(onTestFinished)
  cpSync(join(folder, name), cwd, { recursive: true })
  for (const file of readdirSync(cwd)) {
    if (file.endsWith('.txt')) writeFileSync(join(cwd, file), here(readFileSync(join(cwd, file), 'utf8')))
  }
  const commands = [...readFileSync(join(cwd, 'README.md'), 'utf8').matchAll(/^ {4}npx portolan (.+)$/gm)]
  expect(commands.length).toBeGreaterThan(0)
  for (const [, line = ''] of commands) {
    const args = words(here(line))
    const isCrawl = args[0] === 'crawl'
    const { code, stdout, stderr } = await portolan(
      [...args, ...(isCrawl ? ['--allow-private', '--delay', '0ms', '--agents', '1'] : [])],
      { cwd },
    )
    expect(code, `${line}\n${stderr}`).toBe(0)
    if (!isCrawl) expect(stdout).not.toBe('')
  }
})
