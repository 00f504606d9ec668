// A crawl that was opened and cannot be run: its agents are ended, or the process would go on for ever, with the directory free for another.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { runCrawl } from '../../src/cli/run-crawl.ts'
import { CrawlNode } from '../../src/supervise/index.ts'
import { directory } from '../crawl/expect-truth.ts'
import { joined, QUICK, requestOf } from './request.ts'

test('what fails between opening and running closes the crawl', { timeout: 60_000 }, async () => {
  const dir = directory()
  // Stands for a disk that has no room for it.
  mkdirSync(join(dir, 'state/timeline.jsonl'), { recursive: true })
  const close = vi.spyOn(CrawlNode.prototype, 'close')
  const quiet = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => {
    close.mockRestore()
    quiet.mockRestore()
  })
  const options = joined(QUICK, { agent: { agents: 1 } })
  await expect(runCrawl(requestOf(dir, ['http://127.0.0.1:9/'], options))).rejects.toThrow(/timeline\.jsonl/)
  expect(close).toHaveBeenCalledTimes(1)
  await expect(close.mock.results[0]?.value).resolves.toBeUndefined()
})
