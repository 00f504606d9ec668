import { expect, test } from 'vitest'
import type { Crawl } from '../agent/index.ts'
import { answerQuestion } from './answer-question.ts'

test('a name that no host has is looked for in steps: the agent goes on meanwhile', async () => {
  async function* hosts(): AsyncIterable<{ readonly host: string; readonly waiting: number }> {
    for (let i = 0; i < 2_000; i++) yield { host: `h${i}.test`, waiting: 1 }
  }
  const crawl = { waitingHosts: hosts } as unknown as Crawl
  let isAlive = false
  setImmediate(() => (isAlive = true))
  const answer = await answerQuestion(crawl, { ask: 'waiting', limit: 10, text: 'nowhere' })
  expect(answer).toEqual({ hosts: [], count: 0, isComplete: true })
  expect(isAlive).toBe(true)
})
