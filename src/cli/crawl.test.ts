// What `portolan crawl` refuses before it starts, and how what a crawl remembers is taken back.

import { readFileSync, rmSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { portolan } from '../../test/cli/portolan.ts'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { formatBytes } from '../base/index.ts'
import { crawlCommand } from './crawl.ts'

/** A thread more costs more than these webs. */
const LOCAL = ['--allow-private', '--delay', '0ms', '--agents', '1']

/** A crawl that stopped early, with these options. */
async function begun(...options: string[]): Promise<{ web: TestWeb; dir: string }> {
  const web = await startTestWeb({ hosts: 1, pages: 30 })
  onTestFinished(() => web.stop())
  const dir = join(temporaryDirectory(onTestFinished), 'crawl')
  const { code, stderr } = await portolan(['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, ...options])
  expect(code, stderr).toBe(0)
  return { web, dir }
}

test('a crawl whose settings are missing is not gone on with by the defaults: its options must be given again', async () => {
  const { web, dir } = await begun('--max-pages', '5')
  const failures = (): string => readFileSync(join(dir, 'failures.jsonl'), 'utf8')
  const before = failures()
  const settings = join(dir, 'state/settings.json')
  rmSync(settings)
  web.reset()
  const refused = await portolan(['crawl', '--dir', dir])
  expect(refused.code).toBe(2)
  expect(refused.stderr).toContain(`${settings}: is missing`)
  expect(refused.stderr).toContain('give its options again')
  expect([web.log.length, failures()]).toEqual([0, before])
  const again = await portolan(['crawl', '--dir', dir, ...LOCAL, '--json'])
  expect(again.code, again.stderr).toBe(0)
  expect(JSON.parse(again.stdout)).toMatchObject({ pages: web.truth().pages.size, stoppedBecause: 'finished' })
})

test('limits are lifted with none and lists emptied with an empty text, for the runs to come too', async () => {
  const { web, dir } = await begun('--max-depth', '0', '--exclude', 'nowhere')
  const lifted = await portolan(['crawl', '--dir', dir, '--max-depth', 'none', '--exclude', '', '--json'])
  expect(lifted.code, lifted.stderr).toBe(0)
  expect(JSON.parse(lifted.stdout)).toMatchObject({ pages: web.truth().pages.size })
  expect(JSON.parse(readFileSync(join(dir, 'state/settings.json'), 'utf8'))).toMatchObject({
    url: { maxDepth: null, exclude: [] },
  })
  const idle = await portolan(['crawl', '--dir', dir])
  expect(idle.stderr).toContain('maxDepth none, exclude none')
  expect(idle.stderr).toContain('Already complete: nothing was left to fetch')
})

test('what waited outside of a changed scope is counted in the first line, and comes back with the former options', async () => {
  const { web, dir } = await begun('--max-pages', '5')
  const changed = await portolan(['crawl', '--dir', dir, '--exclude', '/', '--progress', 'none'])
  expect(changed.code, changed.stderr).toBe(0)
  expect(changed.stderr.trimStart().replaceAll('\n', ' ')).toMatch(
    /^Already complete: nothing was left to fetch; \d+ URLs that waited lie outside the changed scope \(with the former options the next run brings them back\) /,
  )
  const back = await portolan(['crawl', '--dir', dir, '--exclude', '', '--json'])
  expect(back.code, back.stderr).toBe(0)
  expect(JSON.parse(back.stdout)).toMatchObject({ pages: web.truth().pages.size })
})

test('help shows how limits are lifted and lists are emptied', () => {
  const help = crawlCommand.details()
  for (const flag of ['--max-pages N|none', '--max-time DURATION|none', '--max-depth N|none']) {
    expect(help).toContain(flag)
  }
  expect(help).toContain('none lifts a limit')
  expect(help).toContain("an empty text empties a list (--exclude '')")
})

test('more memory than the machine has is refused with what it has', async () => {
  const dir = join(temporaryDirectory(onTestFinished), 'crawl')
  const { code, stderr } = await portolan(['crawl', 'http://a.test/', '--dir', dir, '--memory', '4000TiB'])
  expect(code).toBe(2)
  expect(stderr).toContain(`--memory: 3.91 PiB is more than this machine has: ${formatBytes(totalmem())}`)
})
