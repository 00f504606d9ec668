import { expect } from 'vitest'
import type { CrawlResult } from '../crawl/run-crawl.ts'

/** Of the pages with one content exactly one is the original, whichever agent has it. */
export function expectOneOriginalEach({ pages }: CrawlResult): void {
  const whole = pages.filter(({ status, bytes, truncated }) => status === 200 && bytes > 0 && truncated === undefined)
  const groups = Map.groupBy(whole, (page) => page.digest)
  for (const [digest, copies] of groups) {
    const originals = copies.filter((page) => page.duplicateOf === undefined)
    expect(originals, digest).toHaveLength(1)
    const [original] = originals
    for (const copy of copies) if (copy !== original) expect(copy.duplicateOf).toBe(original?.url)
  }
}
