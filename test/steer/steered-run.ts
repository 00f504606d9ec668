// A crawl as the command runs it, inside the test's own process, steered through what the control API is served from.

import { join } from 'node:path'
import { vi } from 'vitest'
import { RunningCrawl } from '../../src/control/running-crawl.ts'
import type { SteeredCrawl } from '../../src/control/index.ts'
import { type CrawlRequest, runCrawl } from '../../src/cli/run-crawl.ts'
import { type FailureRecord, type PageRecord, readJsonLines } from '../../src/store/index.ts'

export const ASKER = { who: 'test' }

export interface SteeredResult {
  readonly code: number
  readonly pages: readonly PageRecord[]
  readonly failures: readonly FailureRecord[]
}

/** Steered while it runs; what steering throws ends the test. */
export async function runSteered(
  request: CrawlRequest,
  steer: (crawl: RunningCrawl, steered: SteeredCrawl) => Promise<void>,
): Promise<SteeredResult> {
  let steering: Promise<void> = Promise.resolve()
  let broken: unknown = null
  // Its result is in crawl.json too.
  const quiet = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const code = await runCrawl(request, (steered) => {
    const crawl = new RunningCrawl(steered)
    steering = steer(crawl, steered).catch((fault: unknown) => {
      broken = fault
      steered.stop()
    })
  }).finally(() => quiet.mockRestore())
  await steering
  if (broken !== null) throw broken as Error
  const linesOf = <T>(name: string): Promise<T[]> => Array.fromAsync(readJsonLines<T>(join(request.dir, name)))
  return { code, pages: await linesOf('pages.jsonl'), failures: await linesOf('failures.jsonl') }
}

/** Resolves when it holds; looked at again and again. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10))
}

export async function pagesReach(crawl: RunningCrawl, pages: number): Promise<void> {
  await until(async () => (await crawl.crawl()).figures.pages >= pages)
}
