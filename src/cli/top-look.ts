// What `portolan top` shows, gathered from a crawl of any kind. What a source does not tell, or refuses, is left out with its reason.

import { Fault } from '../base/index.ts'
import { type AnswerOf, ControlError, type CrawlInfo, type CrawlSource } from '../control/index.ts'

export type TopHosts = AnswerOf<'hosts'>['items']

export interface TopLook {
  readonly info: CrawlInfo
  readonly agents: AnswerOf<'agents'>['agents']
  readonly nodes: AnswerOf<'nodes'> | null
  /** Null: not asked for. */
  readonly busiest: TopHosts | null
  readonly troubled: TopHosts | null
  /** Why hosts are not told. */
  readonly hostsTrouble: string | null
}

export const ASKER = { who: 'top' }
export const STILL_READ = 'they are still being read; look again in a moment'

/** Everything is asked anew each time; hosts only where they are looked at. */
export async function lookAt(source: CrawlSource, hostsShown: number): Promise<TopLook> {
  const info = await source.crawl({}, ASKER)
  const isRunning = info.now !== null
  const [agents, nodes] = await Promise.all([
    isRunning ? orNull(source.agents({}, ASKER)) : null,
    info.cluster === null ? null : orNull(source.nodes({}, ASKER)),
  ])
  const hosts = { busiest: null, troubled: null, hostsTrouble: null }
  const told = hostsShown === 0 ? hosts : await lookAtHosts(source, hostsShown, info)
  return { info, agents: agents?.agents ?? [], nodes, ...told }
}

async function lookAtHosts(
  source: CrawlSource,
  limit: number,
  { figures }: CrawlInfo,
): Promise<Pick<TopLook, 'busiest' | 'troubled' | 'hostsTrouble'>> {
  try {
    const busiest = await source.hosts({ sort: 'pages', limit }, ASKER)
    // Whoever asks first asks before they are read from the files of the crawl.
    if (busiest.items.length === 0 && figures.pages > 0)
      return { busiest: null, troubled: null, hostsTrouble: STILL_READ }
    const troubled = await source.hosts({ sort: 'errors', limit }, ASKER)
    return {
      busiest: busiest.items,
      troubled: troubled.items.filter(({ errors }) => errors > 0),
      hostsTrouble: null,
    }
  } catch (fault) {
    return { busiest: null, troubled: null, hostsTrouble: refusalOf(fault) }
  }
}

/** What was refused, in its words. Anything else is thrown on. */
export function refusalOf(fault: unknown): string {
  if (fault instanceof Fault || fault instanceof ControlError) return fault.message
  throw fault
}

async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked
  } catch (fault) {
    refusalOf(fault)
    return null
  }
}

/** Pages per second between samples of its course, the newest last: what was before somebody looked. */
export async function earlierRates(source: CrawlSource, count: number): Promise<number[]> {
  const course = await orNull(source.timeline({}, ASKER))
  const samples = (course?.samples ?? []).slice(-count - 1)
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample
    return sample.t <= before.t ? 0 : Math.max(0, (sample.pages - before.pages) / (sample.t - before.t))
  })
}
