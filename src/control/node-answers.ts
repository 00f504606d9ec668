// A node answers questions of the control API that come over the engine, from its own source: of its part of the crawl. Only those
// that change nothing, checked like those that come over HTTP, and bounded in bytes.

import { Fault } from '../base/index.ts'
import { ENTRY_BYTES_MAX } from '../engine/index.ts'
import type { ControlAnswer, ControlQuestion } from '../supervise/index.ts'
import { ROUTES } from './api.ts'
import type { CrawlSource } from './crawl-source.ts'

const NODE_ROUTES = ['pages', 'failures', 'broken', 'hosts', 'host', 'explain', 'statistics', 'archive'] as const
export type NodeRoute = (typeof NODE_ROUTES)[number]

export async function answerForCluster(
  source: CrawlSource,
  { route, asked, who }: ControlQuestion,
  bytesMax = ENTRY_BYTES_MAX,
): Promise<ControlAnswer> {
  const name = NODE_ROUTES.find((one) => one === route)
  if (name === undefined) return refused('CLUSTER_REFUSED', `a node does not answer '${route}' for others`)
  const checked = ROUTES[name].params.safeParse({ ...asked, crawl: source.id })
  if (!checked.success) return refused('CONFIG_INVALID', checked.error.issues.map(({ message }) => message).join('; '))
  const ask = source[name].bind(source) as (asked: unknown, asker: { who: string }) => Promise<unknown>
  try {
    const params = checked.data as { readonly limit?: number }
    let limit = params.limit ?? 1
    for (;;) {
      const answer = await ask(params.limit === undefined ? params : { ...params, limit }, { who })
      // A list may be given in smaller parts.
      if (Buffer.byteLength(JSON.stringify(answer)) <= bytesMax) return { answer }
      if (limit <= 1) return refused('CLUSTER_REFUSED', 'the answer is larger than a message may be')
      limit = Math.floor(limit / 2)
    }
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    return refused(fault.code, fault.message)
  }
}

function refused(code: string, message: string): ControlAnswer {
  return { fault: { code, message } }
}
