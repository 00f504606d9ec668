// A machine of a cluster that is lost, by real processes over a test web: with its archive on a shelf as far as it had got, without one,
// and after the crawl had ended; and one that only comes back too late.
//
//   node bench/lost-node.ts        exits 1 where a page is not in an archive that is there

import { leaveBehind } from '../test/cluster/left-behind.ts'
import { loseANode } from '../test/cluster/lost-node.ts'

const CASES = [
  { what: 'with a shelf', hosts: 12, pages: 60, hasShelf: true, killAt: 150 },
  { what: 'without a shelf', hosts: 12, pages: 40, hasShelf: false, killAt: 150 },
  { what: 'after the end', hosts: 8, pages: 30, hasShelf: false, killAt: null },
]

let failed = 0
for (const { what, ...plan } of CASES) {
  const startMs = performance.now()
  const { problems, said, pages, kept, againRequests, story } = await loseANode(plan)
  const seconds = Math.round((performance.now() - startMs) / 1_000)
  console.log(
    JSON.stringify({ what, pages, kept, requestsAfter: againRequests, seconds, problems }),
    `\n  ${said.trim()}`,
  )
  if (problems.length > 0) console.log(story)
  failed += problems.length
}
const left = await leaveBehind()
console.log(JSON.stringify({ what: 'left behind', ...left }))
process.exitCode = failed + left.problems.length === 0 ? 0 : 1
