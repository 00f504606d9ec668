// What went with a node that never comes back, in a sentence. Loads nothing of clusters.

import type { LostSum } from '../cluster/index.ts'
import { formatCount, formatNumberOf } from '../report/index.ts'

export function describeLostNode(node: string, sum: LostSum, isDone: boolean): string {
  const { safeFiles, safePages, goneFiles, gonePages, requeued, shares } = sum
  const safe =
    safeFiles === 0
      ? 'none of its WARC files is safe elsewhere'
      : `${formatNumberOf(safeFiles, 'WARC file')} of it with ${formatNumberOf(safePages, 'page')} ${safeFiles === 1 ? 'is' : 'are'} on the shelf`
  const gone =
    goneFiles === 0 && gonePages === 0
      ? 'nothing has to be fetched again'
      : `${formatNumberOf(goneFiles, 'file')} with ${formatNumberOf(gonePages, 'page')} ${goneFiles === 1 ? 'is' : 'are'} lost`
  const again = gonePages === 0 ? '' : `, ${formatNumberOf(requeued, 'page is', 'pages are')} fetched again`
  return `Node ${node} is lost: ${safe}; ${gone}${again}${isDone ? '' : ` (so far; ${formatCount(shares)} shares have looked)`}.`
}
