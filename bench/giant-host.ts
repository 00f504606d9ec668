// A giant host over three real nodes that lend each other its turns, freeze and die with them: judged by the web's log.
//
//   node bench/giant-host.ts [pages]

import { crawlGiant } from '../test/cluster/lent-turns.ts'

const verdict = await crawlGiant(Number(process.argv[2] ?? 400), ['freeze', 'freeze', 'kill'])
const { problems, pages, requests, again, brought, lost, costs } = verdict
process.stdout.write(`${JSON.stringify({ pages, requests, again, brought, lost, costs }, null, 2)}\n`)
for (const problem of problems) process.stdout.write(`${problem}\n`)
process.exitCode = problems.length === 0 && lost > 0 ? 0 : 1
