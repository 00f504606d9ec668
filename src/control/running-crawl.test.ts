import { expect, test, vi } from 'vitest'
import { RunningCrawl } from './running-crawl.ts'
import type { SteeredCrawl } from './steered-crawl.ts'

test('figures that cannot be had for those who watch do not end the process that crawls', async () => {
  vi.useFakeTimers()
  try {
    let looks = 0
    const steered = {
      dir: '/nowhere',
      place: null,
      events: { watch: () => () => {} },
      isReopening: false,
      get job() {
        looks++
        throw new TypeError('a mistake of ours')
      },
    } as unknown as SteeredCrawl
    const crawl = new RunningCrawl(steered)
    const unwatch = crawl.watch(
      () => {},
      () => {},
    )
    vi.advanceTimersByTime(2_000)
    expect(looks).toBe(2)
    unwatch()
    await expect(crawl.crawl()).rejects.toThrow('a mistake of ours')
  } finally {
    vi.useRealTimers()
  }
})
