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

/** As far as it is asked for here. */
function steeredOnFullDisk(): { readonly steered: SteeredCrawl; readonly done: string[] } {
  const done: string[] = []
  const steered = {
    dir: '/nowhere',
    place: null,
    node: { agents: 1 },
    events: { watch: () => () => {} },
    isReopening: false,
    record: () => Promise.reject(new Error('no space left on the disk')),
    stop: () => done.push('stopped'),
    said: {},
    change: () => done.push('another speed'),
  } as unknown as SteeredCrawl
  return { steered, done }
}

test('a crawl is stopped though the disk has no room to say who did it; other changes are refused then', async () => {
  const { steered, done } = steeredOnFullDisk()
  const crawl = new RunningCrawl(steered)
  await expect(crawl.speed({ connections: 2 }, { who: 'a test' })).rejects.toThrow('no space left')
  expect(done).toEqual([])
  await crawl.stop({}, { who: 'a test' })
  expect(done).toEqual(['stopped'])
})

test('a change of speed that changes nothing is refused by name', async () => {
  const crawl = new RunningCrawl(steeredOnFullDisk().steered)
  await expect(crawl.speed({}, { who: 'a test' })).rejects.toThrow('say what is to change')
})
