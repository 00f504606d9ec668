// What the agents of a crawl have come to, as one: sums, save what they share.

import type { CrawlTotals } from '../agent/index.ts'

/** Null where none of them has committed anything. */
export function joinTotals(totals: readonly (CrawlTotals | null)[]): CrawlTotals | null {
  const known = totals.filter((one) => one !== null)
  const [first, ...others] = known
  if (first === undefined) return null
  return others.reduce(
    (sum, one) => ({
      admitted: sum.admitted + one.admitted,
      pages: sum.pages + one.pages,
      failed: sum.failed + one.failed,
      failures: sumEach(sum.failures, one.failures),
      answers: sumEach(sum.answers, one.answers) as CrawlTotals['answers'],
      bytes: sum.bytes + one.bytes,
      wireBytes: sum.wireBytes + one.wireBytes,
      skipped: sumEach(sum.skipped, one.skipped),
      refused: sumEach(sum.refused, one.refused),
      // A host belongs to one agent.
      hosts: sum.hosts + one.hosts,
      // They work at the same time, in the same process.
      ms: Math.max(sum.ms, one.ms),
      cpuMs: sum.cpuMs + one.cpuMs,
      peakRssBytes: Math.max(sum.peakRssBytes, one.peakRssBytes),
    }),
    first,
  )
}

function sumEach<K extends string>(
  a: Partial<Readonly<Record<K, number>>>,
  b: Partial<Readonly<Record<K, number>>>,
): Partial<Record<K, number>> {
  const sum: Partial<Record<K, number>> = { ...a }
  for (const key of Object.keys(b) as K[]) sum[key] = (sum[key] ?? 0) + (b[key] ?? 0)
  return sum
}
