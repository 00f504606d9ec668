// What stands in the way of a faster crawl, in a sentence.

import type { CrawlSnapshot, PaceFigures } from '../agent/index.ts'
import { formatBytes, formatDuration } from '../base/index.ts'
import { formatCount, formatNumberOf } from '../report/index.ts'

/** `paces` are those of the agents; none where they are not known. */
export function slowBecause(snapshot: CrawlSnapshot, paces: readonly PaceFigures[]): string {
  const { isPaused, isStopping, frontier, active, waitMs } = snapshot
  if (isStopping) return 'It is stopping.'
  if (isPaused) return active > 0 ? 'It pauses: what is under way ends.' : 'It is paused.'
  if (frontier.waiting === 0) return 'Nothing waits.'
  if (waitMs !== null && waitMs > 0) {
    if (waitMs < 1_000) return 'Every host rests, less than a second more.'
    return `Every host rests, ${formatDuration(Math.round(waitMs / 1_000) * 1_000)} more.`
  }
  if (paces.some(({ waiting }) => waiting > 0)) return speedLimit(paces)
  switch (mostOf(paces)) {
    case 'cpu':
      return 'The processor is busy.'
    case 'memory':
      return 'Memory is used up (--memory).'
    case 'network':
      return 'The network does not bear more: requests time out.'
    case 'ceiling':
      return `As many hosts are asked at once as may be: ${formatCount(sum(paces, ({ limit }) => limit))} (--connections).`
    default:
  }
  const hosts = frontier.ready + frontier.resting + frontier.parked + frontier.out
  if (frontier.ready === 0 && frontier.resting > 0) {
    return `Its hosts rest between requests: ${formatCount(frontier.resting)} of ${formatNumberOf(hosts, 'host')}.`
  }
  if (frontier.parked > 0 && frontier.ready === 0) return 'Hosts wait for their robots.txt.'
  return 'Nothing: it goes as fast as servers answer.'
}

function speedLimit(paces: readonly PaceFigures[]): string {
  const rate = sum(paces, ({ speed }) => speed.ratePerSecond ?? Infinity)
  const bytes = sum(paces, ({ speed }) => speed.bytesPerSecond ?? Infinity)
  if (rate === Infinity && bytes === Infinity) return 'Requests wait for a limit of speed.'
  return bytes === Infinity
    ? `The limit of speed holds it: ${formatCount(rate)} requests a second (--max-rate).`
    : `The limit of speed holds it: ${formatBytes(bytes)} a second (--max-bandwidth).`
}

/** What holds most of the agents back. */
function mostOf(paces: readonly PaceFigures[]): PaceFigures['bottleneck'] {
  const counts = new Map<PaceFigures['bottleneck'], number>()
  for (const { bottleneck } of paces) counts.set(bottleneck, (counts.get(bottleneck) ?? 0) + 1)
  return [...counts].sort(([, one], [, two]) => two - one)[0]?.[0] ?? 'none'
}

function sum(paces: readonly PaceFigures[], of: (pace: PaceFigures) => number): number {
  return paces.reduce((total, pace) => total + of(pace), 0)
}
