// What stands in the way of a faster cluster, in a sentence.

import type { ClusterStatus } from '../cluster/index.ts'
import { formatCount, formatNumberOf } from '../report/index.ts'
import type { KnownShare } from './cluster-nodes.ts'

/** What holds at least so many of the shares that work back is said to hold the crawl back. */
const MOST = 0.5

export function clusterSlowness(
  { nodes, shares, state, isPaused }: ClusterStatus,
  agents: readonly KnownShare[],
): string {
  if (state === 'stopping') return 'It is stopping.'
  if (isPaused) return 'It is paused.'
  const free = shares.filter(({ holder, released }) => holder === null || released).length
  if (free > 0) return `${formatNumberOf(free, 'share')} of ${formatCount(shares.length)} with nobody yet.`
  const silent = nodes.filter(({ report }) => report === null || report.isFenced)
  if (silent.length > 0)
    return `${silent.map(({ node }) => node).join(', ')} ${silent.length === 1 ? 'is' : 'are'} silent.`
  const waiting = agents.filter(({ frontier }) => frontier.waiting > 0)
  if (waiting.length === 0) return 'Nothing waits.'
  const isMost = (of: (agent: KnownShare) => boolean): boolean => waiting.filter(of).length >= MOST * waiting.length
  if (isMost(({ pace }) => pace.bottleneck === 'cpu')) return 'The processors of the nodes are busy.'
  if (isMost(({ pace }) => pace.bottleneck === 'memory')) return 'The memory of the nodes is used up (--memory).'
  if (isMost(({ pace }) => pace.bottleneck === 'network')) return 'The network does not bear more: requests time out.'
  if (isMost(({ pace }) => pace.bottleneck === 'ceiling'))
    return 'As many hosts are asked at once as may be (--connections).'
  const [ready, resting] = [total(waiting, 'ready'), total(waiting, 'resting')]
  if (ready === 0 && resting > 0) return `Its hosts rest between requests: ${formatNumberOf(resting, 'host')}.`
  const limit = waiting.reduce((sum, { pace }) => sum + (pace.speed.ratePerSecond ?? Infinity), 0)
  if (limit !== Infinity && ready > 0) return `Held to ${formatCount(limit)} requests a second.`
  return 'Nothing: it goes as fast as servers answer.'
}

function total(agents: readonly KnownShare[], of: 'ready' | 'resting'): number {
  return agents.reduce((sum, { frontier }) => sum + frontier[of], 0)
}
