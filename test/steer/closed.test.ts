// A crawl that was opened and cannot be run: its agents are ended, or the process would go on for ever, with the directory free for another.

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runCrawl } from '../../src/cli/run-crawl.ts'
import { CrawlNode } from '../../src/supervise/index.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { joined, QUICK, requestOf } from './request.ts'
import { runSteered } from './steered-run.ts'

test('what fails between opening and running closes the crawl', { timeout: 60_000 }, async () => {
  const dir = directory()
  // Stands for a disk that has no room for it.
  mkdirSync(join(dir, 'state/settings.json'), { recursive: true })
  const close = vi.spyOn(CrawlNode.prototype, 'close')
  const quiet = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => {
    close.mockRestore()
    quiet.mockRestore()
  })
  const options = joined(QUICK, { agent: { agents: 1 } })
  await expect(runCrawl(requestOf(dir, ['http://127.0.0.1:9/'], options))).rejects.toThrow(/settings\.json/)
  expect(close).toHaveBeenCalledTimes(1)
  await expect(close.mock.results[0]?.value).resolves.toBeUndefined()
})

test('a crawl whose course cannot be written is crawled all the same, and says so', async () => {
  const web = await startWeb({ seed: 'no-course', hosts: 1, pages: 5 })
  const dir = directory()
  mkdirSync(join(dir, 'state/timeline.jsonl.new'), { recursive: true })
  const { code, pages } = await runSteered(requestOf(dir, web.seeds(), QUICK), async () => {})
  expect([code, pages.length]).toEqual([0, web.truth().pages.size])
  expect(JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8'))).toMatchObject({ stoppedBecause: 'finished' })
})
