// Several people change one crawl at the same moment: each change holds, on disk and in force, and each is on record once.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readChanges } from '../../src/control/index.ts'
import type { RunningCrawl } from '../../src/control/running-crawl.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { joined, type Options, QUICK, requestOf } from './request.ts'
import { ASKER, runSteered } from './steered-run.ts'

test('changes at once: none undoes another, and the crawl goes on', { timeout: 60_000 }, async () => {
  const web = await startWeb({ seed: 'at-once', hosts: 2, pages: 10 })
  const dir = directory()
  const changes: readonly Options[] = [
    { url: { block: ['nowhere.example'] } },
    { frontier: { urlsPerTurn: 3 } },
    { agent: { maxRate: 300 } },
    { url: { maxDepth: 50 } },
    { agent: { connections: 7 } },
  ]
  const steer = async (crawl: RunningCrawl): Promise<void> => {
    await crawl.pause({}, ASKER)
    await Promise.all(changes.map((options) => crawl.set({ options }, ASKER)))
    const { settings } = await crawl.settings()
    const said = new Map(settings.map(({ name, value }) => [name, value]))
    for (const [section, own] of changes.flatMap((options) => Object.entries(options))) {
      for (const [key, value] of Object.entries(own)) expect(said.get(`${section}.${key}`), key).toEqual(value)
    }
    await crawl.resume({}, ASKER)
  }
  const result = await runSteered(requestOf(dir, web.seeds(), joined(QUICK, { agent: { agents: 1 } })), steer)
  expect(result.code).toBe(0)
  expect(result.pages.map(({ url }) => url).sort()).toEqual([...web.truth().pages.keys()].sort())
  const kept = JSON.parse(readFileSync(join(dir, 'state/settings.json'), 'utf8')) as Options
  expect(kept).toMatchObject(Object.assign({}, ...changes.map((options) => joined(kept, options))) as Options)
  const { items } = await readChanges(dir, undefined, 500)
  expect(items.map(({ number }) => number)).toEqual([7, 6, 5, 4, 3, 2, 1])
})
