// What went with a node that never comes back, in a sentence. Loads nothing of clusters.

import type { LostSum } from '../cluster/index.ts'
import { formatNumberOf } from '../report/index.ts'

export function describeLostNode(node: string, sum: LostSum, isDone: boolean): string {
  const { safeFiles, safePages, goneFiles, gonePages, requeued, shares } = sum
  if (!isDone && shares === 0) return `Node ${node} is lost; no share has looked yet what went with it.`
  const safe =
    safeFiles === 0
      ? 'none of its WARC files is on the shelf'
      : `${formatNumberOf(safeFiles, 'WARC file')} of it with ${formatNumberOf(safePages, 'page')} ${safeFiles === 1 ? 'is' : 'are'} on the shelf`
  const gone =
    gonePages === 0
      ? 'nothing has to be fetched again'
      : `${formatNumberOf(goneFiles, 'file')} with ${formatNumberOf(gonePages, 'page')} ${goneFiles === 1 ? 'is' : 'are'} lost, ${formatNumberOf(requeued, 'page is', 'pages are')} fetched again`
  const sofar = isDone ? '' : ` (so far: ${formatNumberOf(shares, 'share has', 'shares have')} looked)`
  return `Node ${node} is lost: ${safe}; ${gone}${sofar}.`
}
