// What a crawl tells while it runs, in sentences: how it begins, and what happens to it.

import { formatDuration } from '../base/index.ts'
import type { EventKind } from '../control/index.ts'
import { formatNumberOf, printable } from '../report/index.ts'
import type { NodeEvent } from '../supervise/index.ts'
import type { CrawlJob } from './crawl-job.ts'
import { describeLostNode } from './describe-lost-node.ts'
import { describeSaid, type Said } from './stored-settings.ts'

export function greeting(job: CrawlJob, dir: string, seeds: readonly string[], stored: Said): string {
  const more = seeds.length > 1 ? ` and ${seeds.length - 1} more` : ''
  const agents = job.agents === 1 ? '' : ` with ${job.agents} agents`
  if (job.isNew) return `Crawling ${printable(seeds[0] ?? '')}${more} into ${dir}${agents}. Ctrl-C stops cleanly.\n`
  const settings = describeSaid(stored)
  const added = seeds.filter((seed) => !job.isKnownSeed(seed)).length
  return (
    `Going on${agents} in ${dir}, which has ${formatNumberOf(job.figures.pages, 'page')}.` +
    (settings === '' ? '' : ` Its settings hold where nothing else is said: ${printable(settings)}.`) +
    (added === 0 ? '' : ` ${formatNumberOf(added, 'new seed')}.`) +
    (job.isScopeChanged
      ? ' The scope has changed: what waits outside of it is skipped; links that were refused before stay so.'
      : '') +
    '\n'
  )
}

function brokenAgent({ agent, why }: { readonly agent: number; readonly why: string }): string {
  return `Agent ${agent} broke (${printable(why)})`
}

export function describeEvent(event: NodeEvent): string {
  switch (event.kind) {
    case 'view':
      return `View ${event.number}: ${event.nodes.length === 0 ? 'nobody' : event.nodes.join(', ')} (${printable(event.because)}).`
    case 'share-taken':
      return `Share ${event.share} is here${event.from === null ? '' : `, taken over from ${event.from}`}.`
    case 'turns-lent':
      return describeTurns(event)
    case 'turns-missing':
      return `Of giant hosts of share ${event.share} ${formatNumberOf(event.turns, 'turn')} that were lent did not come back and were waited out.`
    case 'share-released':
      return `Share ${event.share} is given up.`
    case 'share-lost':
      return `Share ${event.share} was begun by another node, which took this one for dead.`
    case 'share-failed':
      return `Share ${event.share}: ${printable(event.why)}.`
    case 'node-silent':
      return 'The engine does not answer and the lease of this node is over: nobody is asked for anything until it does.'
    case 'node-resumed':
      return 'The lease of this node runs.'
    case 'engine-awaited':
      return 'The engine does not answer: this node takes part when it does.'
    case 'crawl-paused':
      return 'The crawl is paused: nobody is asked for anything until an operator lets it go on.'
    case 'crawl-unpaused':
      return 'The crawl goes on after its pause.'
    case 'change-holds':
      return `Change ${event.change} of the crawl holds on all shares here.`
    case 'change-unread':
      return `Change ${event.change} of the crawl cannot be made here, and its shares here go on as before: ${printable(event.why)}.`
    case 'node-reborn':
      return `This node was taken for dead; it takes part again as incarnation ${event.incarnation}.`
    case 'lost-settled':
      return describeLostNode(event.node, event, true)
    case 'visit-broken':
      return `A visit to ${printable(event.url)} broke (${printable(event.why)}). This is a fault of Portolan's; please report it. The crawl goes on; such URLs fail as VISIT_BROKEN after some tries.`
    case 'sharing': {
      const { urls, agents, agentsBefore } = event
      return `Sharing ${formatNumberOf(urls, 'URL')} among ${formatNumberOf(agents, 'agent')} instead of ${agentsBefore}…`
    }
    case 'fewer-connections':
      return event.what
    case 'trace':
      return `${printable(event.url)} ${printable(event.step)}.`
    case 'agent-warning':
      return `Agent ${event.agent}: ${printable(event.what)}.`
    case 'agent-restarted':
      return `${brokenAgent(event)} and was started again from its last commit, after ${formatDuration(Math.round(event.ms))}.`
    case 'agent-left':
      return `${brokenAgent(event)} while the crawl was stopping; what it had committed is kept.`
    case 'agent-stuck':
      return `${brokenAgent(event)} and cannot be ended: a call into the system holds it. The process ends; the same command goes on.`
  }
}

/** Under which kind it stands among the events of the crawl. */
export function kindOfEvent(event: NodeEvent): EventKind {
  switch (event.kind) {
    case 'view':
    case 'node-silent':
    case 'node-resumed':
    case 'engine-awaited':
    case 'node-reborn':
    case 'lost-settled':
      return 'node'
    case 'share-taken':
    case 'share-released':
    case 'share-lost':
    case 'share-failed':
    case 'turns-lent':
    case 'turns-missing':
      return 'share'
    case 'visit-broken':
      return 'fault'
    case 'fewer-connections':
    case 'agent-warning':
    case 'change-unread':
      return 'warning'
    case 'crawl-paused':
    case 'crawl-unpaused':
    case 'change-holds':
    case 'sharing':
      return 'crawl'
    case 'trace':
      return 'trace'
    case 'agent-restarted':
    case 'agent-left':
    case 'agent-stuck':
      return 'agent'
  }
}

function describeTurns({ share, lent, lost, brought, asked }: Extract<NodeEvent, { kind: 'turns-lent' }>): string {
  const given = `in ${formatNumberOf(lent, 'turn')} that were lent, ${lost} of which did not come back`
  return `Of giant hosts of share ${share} others asked ${formatNumberOf(brought, 'URL')} ${given}; it asked ${formatNumberOf(asked, 'URL')} of theirs.`
}
