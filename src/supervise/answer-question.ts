// How an agent answers what it is asked while it runs, on its own thread.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Crawl } from '../agent/index.ts'
import { systemClock } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import type { AgentAnswers, AgentQuestion, HostStanding, WaitingHosts } from './agent-questions.ts'

const HOSTS_STEP = 500
const HOSTS_OWN_MS_MAX = 1_000

export async function answerQuestion(crawl: Crawl, question: AgentQuestion): Promise<AgentAnswers[keyof AgentAnswers]> {
  switch (question.ask) {
    case 'seeds':
      return crawl.addSeeds(question.seeds)
    case 'preview':
      return crawl.previewScope(question.url)
    case 'hosts':
      return standingsOf(crawl, question.hosts)
    case 'waiting':
      return mostWaiting(crawl, question.limit, question.text)
    case 'trace':
      crawl.trace(question.url)
      return null
  }
}

async function standingsOf(crawl: Crawl, hosts: readonly string[]): Promise<HostStanding[]> {
  const standings: HostStanding[] = []
  for (const name of hosts) {
    const state = await crawl.hostState(name as HostKey)
    if (state === null) continue
    const { host, waiting, state: word, restUntilMs, leastRestMs, address } = state
    const restMs = word === 'resting' ? Math.max(0, restUntilMs - systemClock.nowMs()) : 0
    standings.push({ host, waiting, state: word, restMs, leastRestMs, address })
  }
  return standings
}

/** Bounded in time; keeps no more than twice what is asked for. */
async function mostWaiting(crawl: Crawl, limit: number, text: string): Promise<WaitingHosts> {
  let kept: { readonly host: string; readonly waiting: number }[] = []
  const sort = (): void => {
    kept.sort((one, two) => two.waiting - one.waiting || (one.host < two.host ? -1 : 1))
    kept = kept.slice(0, limit)
  }
  let count = 0
  let ownMs = 0
  let isComplete = true
  let stepMs = systemClock.nowMs()
  let looked = 0
  for await (const one of crawl.waitingHosts()) {
    looked++
    if (text === '' || one.host.includes(text)) {
      count++
      kept.push(one)
      if (kept.length >= 2 * limit) sort()
    }
    if (looked % HOSTS_STEP !== 0) continue
    const tookMs = systemClock.nowMs() - stepMs
    ownMs += tookMs
    if (ownMs > HOSTS_OWN_MS_MAX) {
      isComplete = false
      break
    }
    await sleep(tookMs)
    stepMs = systemClock.nowMs()
  }
  sort()
  return { hosts: kept, count, isComplete }
}
