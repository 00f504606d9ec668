// How all crawls of a server stand. One in trouble is listed with its trouble, and hides no other.

import { Fault } from '../base/index.ts'
import type { CrawlInfo } from './api.ts'
import type { Asker, CrawlSource } from './crawl-source.ts'

/** Each look opens files, or asks another process. */
const AT_ONCE = 8

export async function listCrawls(sources: readonly CrawlSource[], asker: Asker): Promise<CrawlInfo[]> {
  const infos: CrawlInfo[] = []
  for (let from = 0; from < sources.length; from += AT_ONCE) {
    const some = sources.slice(from, from + AT_ONCE)
    infos.push(...(await Promise.all(some.map((source) => lookAt(source, asker)))))
  }
  return infos
}

async function lookAt(source: CrawlSource, asker: Asker): Promise<CrawlInfo> {
  try {
    return await source.crawl({}, asker)
  } catch (cause) {
    // Of a process that does not answer, it is a ControlError.
    if (!(cause instanceof Fault) && !(cause instanceof Error && cause.name === 'ControlError')) throw cause
    return inTrouble(source.id, cause.message)
  }
}

function inTrouble(id: string, why: string): CrawlInfo {
  const nothing = { pages: 0, failed: 0, bytes: 0, wireBytes: 0, seconds: 0, hosts: 0, urlsSeen: 0, waiting: 0 }
  return {
    id,
    name: id,
    dir: '',
    state: 'stopped',
    stoppedBecause: why,
    startedAt: null,
    agents: 0,
    figures: { ...nothing, failures: {}, answers: {}, skipped: {}, refused: {}, cpuSeconds: 0, peakRssBytes: 0 },
    now: null,
    cluster: null,
    can: [],
  }
}
