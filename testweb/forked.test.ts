// The same web, in a process of its own.

import { expect, onTestFinished, test } from 'vitest'
import { ForkedTestWeb } from './forked.ts'
import { fetchOnce } from './judge/naive-walker.conformance.ts'

test('serves what the parent computes, and tells its log and its CPU time', async () => {
  const forked = await ForkedTestWeb.start({ seed: 'forked', hosts: 2, pages: 5, linksPerPage: 3 })
  let isStopped = false
  onTestFinished(() => (isStopped ? undefined : forked.stop()))
  const options = { authority: null, lookUp: (host: string) => host }
  const { pages } = forked.truth({ scope: 'any' })
  expect(pages.size).toBeGreaterThan(5)
  for (const url of pages.keys()) {
    const fetched = await fetchOnce(url, options)
    expect(fetched?.body).toEqual(forked.web.body(url))
  }
  const figures = await forked.figures()
  expect(figures.requests).toBe(pages.size)
  expect(figures.cpuMs).toBeGreaterThan(0)
  expect(await forked.politeness({ delayMs: 0 })).toEqual([])
  expect((await forked.politeness({ delayMs: 100_000 })).length).toBe(pages.size - 2)
  await forked.reset()
  expect((await forked.figures()).requests).toBe(0)
  await forked.stop()
  isStopped = true
  expect(await fetchOnce(forked.web.url(0, 0), options)).toBeNull()
})

test('options that make no web are refused before a process is started', async () => {
  await expect(ForkedTestWeb.start({ hosts: -1 })).rejects.toThrow('hosts')
})
