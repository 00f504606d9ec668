import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { systemClock } from '../base/index.ts'
import type { CrawlEvent } from './api.ts'
import { EventLog, readEvents } from './event-log.ts'

test('a listener that breaks harms neither the crawl that tells nor those who listen too', async () => {
  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  const faults: unknown[] = []
  const log = await EventLog.open(dir, systemClock, (fault) => faults.push(fault))
  const heard: CrawlEvent[] = []
  log.watch(() => {
    throw new Error('broken')
  })
  log.watch((event) => heard.push(event))
  log.add('crawl', 'It began.')
  await log.close()
  expect(heard.map(({ text }) => text)).toEqual(['It began.'])
  expect((await readEvents(dir, undefined, 10)).items).toEqual(heard)
  expect(faults).toEqual([])
})
