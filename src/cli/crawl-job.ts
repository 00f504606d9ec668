// A crawl as it is run here: what is asked for, and how that is opened.

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseFaultPlan, systemClock } from '../base/index.ts'
import type { CrawlConfig, Problem } from '../config/index.ts'
import type { CrawlSource } from '../control/index.ts'
import type { ClusterPlace } from '../report/index.ts'
import { type ControlAnswer, type ControlQuestion, CrawlNode, type NodeEvent, USUAL_CARE } from '../supervise/index.ts'
import { type CanonicalUrl, hostKeyOf } from '../url/index.ts'
import { lifeUnderGuard } from './guard.ts'
import type { Said } from './stored-settings.ts'
import { VERSION } from './version.ts'

export const PROGRESS_MODES = ['auto', 'plain', 'none'] as const
export type ProgressMode = (typeof PROGRESS_MODES)[number]

/** On this machine alone, or as a node of a cluster, which does nothing `meanwhile` when it closes. */
export type CrawlJob = Pick<
  CrawlNode,
  | 'identity'
  | 'isNew'
  | 'isScopeChanged'
  | 'seeds'
  | 'isKnownSeed'
  | 'agents'
  | 'restarts'
  | 'fault'
  | 'figures'
  | 'snapshot'
  | 'run'
  | 'stop'
  | 'checkpoint'
  | 'close'
>

export interface CrawlRequest {
  readonly dir: string
  readonly seeds: readonly CanonicalUrl[]
  readonly config: CrawlConfig
  /** What was said on the command line, in the environment and in the file; and what earlier runs were told. */
  readonly said: Said
  readonly stored: Said
  readonly progress: ProgressMode
  readonly isJson: boolean
  /** Lines of seed files that were left out. */
  readonly warnings: readonly Problem[]
  /** Serve the dashboard meanwhile, at this port; 0 chooses one. Left out: no. */
  readonly dashboardPort?: number
  /** As a node of a cluster: how it is opened, and what is said then. */
  readonly cluster?: {
    readonly place: ClusterPlace
    readonly open: (onEvent: (event: NodeEvent) => void) => Promise<CrawlJob>
    readonly greeting: string
    /** The whole crawl, as the control API sees it. */
    readonly openSource?: () => Promise<CrawlSource & { close(): Promise<void> }>
    /** Options as they hold now, where they were changed for all nodes since it was opened. */
    readonly configNow?: () => CrawlConfig | null
    /** Where the shares are that it has now. */
    readonly shareDirs?: () => readonly string[]
    /** Told who answers what other nodes ask of this one's part. */
    readonly answerWith?: (answer: (question: ControlQuestion) => Promise<ControlAnswer>) => void
  }
}

/** Work between a job's opening and its run: where it fails the job is closed, or its agents would keep the process for ever. */
export async function orClosed<T>(job: Pick<CrawlJob, 'close'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (fault) {
    // The first fault is the one to tell.
    await job.close().catch(() => {})
    throw fault
  }
}

/** Alone, in a directory that this process holds. */
export function openCrawl(
  { dir, seeds, config, cluster }: CrawlRequest,
  onEvent: (event: NodeEvent) => void,
): Promise<CrawlJob> {
  if (cluster !== undefined) return cluster.open(onEvent)
  const asked = process.env['PORTOLAN_FAULTS'] ?? ''
  // Another process draws other faults, or it would die of the same for ever.
  const faults = asked === '' ? null : parseFaultPlan(`seed:${lifeUnderGuard()},${asked}`)
  return CrawlNode.open({
    dir,
    isLocked: true,
    seeds,
    settings: config,
    clock: systemClock,
    newIdentity: () => ({
      name: seeds[0] === undefined ? 'crawl' : hostKeyOf(seeds[0]).replaceAll(/[^a-z0-9.-]/g, ''),
      key: randomBytes(8).toString('hex'),
      startedAtMs: systemClock.wallMs(),
    }),
    software: `Portolan/${VERSION}`,
    environment: { ...process.env },
    agentsUsual: availableParallelism(),
    onEvent,
    faults,
    // What breaks on purpose is no loop.
    care: faults === null ? USUAL_CARE : { ...USUAL_CARE, restartsMax: Infinity },
  })
}
