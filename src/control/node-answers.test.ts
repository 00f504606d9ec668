// A node answers others for its part: only what changes nothing, checked, and no larger than a message may be.

import { expect, test } from 'vitest'
import { Fault } from '../base/index.ts'
import type { Asked, CrawlSource } from './crawl-source.ts'
import { answerForCluster } from './node-answers.ts'

const asked: Asked<'hosts'>[] = []
const source = {
  id: 'part',
  hosts: async (question: Asked<'hosts'>) => {
    asked.push(question)
    return { items: Array.from({ length: question.limit }, () => 'x'.repeat(100)), next: null, total: null }
  },
  explain: async () => {
    throw new Fault('CONFIG_INVALID', 'this is no URL')
  },
} as unknown as CrawlSource

const ask = (route: string, question: Record<string, unknown> = {}, bytesMax = 5_000) =>
  answerForCluster(source, { ask: 'control', route, asked: question, who: 'cluster' }, bytesMax)

test('a list that would be too large is given in a smaller part', async () => {
  const told = (await ask('hosts', { limit: 200 })) as { answer: { items: unknown[] } }
  expect(told.answer.items).toHaveLength(25)
  expect(asked.map(({ limit }) => limit)).toEqual([200, 100, 50, 25])
  expect(await ask('hosts', { limit: 1 }, 10)).toMatchObject({ fault: { code: 'CLUSTER_REFUSED' } })
})

test.each(['stop', 'set', 'speed', 'constructor', 'no-such'])('%s is not for others to ask', async (route) => {
  expect(await ask(route)).toMatchObject({ fault: { code: 'CLUSTER_REFUSED' } })
})

test('what is asked is checked, and what is refused is told', async () => {
  expect(await ask('hosts', { sort: 'beauty' })).toMatchObject({ fault: { code: 'CONFIG_INVALID' } })
  expect(await ask('explain', { url: '::' })).toEqual({ fault: { code: 'CONFIG_INVALID', message: 'this is no URL' } })
})
