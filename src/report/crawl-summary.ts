// crawl.json: what a crawl says of itself when it stops, the object `--json` prints. A contract with
// the outside: fields may be added, never renamed.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diskFault, type FailureCode, type RefusalReason, type SkipReason, type StopReason } from '../base/index.ts'
import { type Answers, answersOf } from './answer-class.ts'
import { type ArchiveFigures, archiveFiguresOf } from './archive-figures.ts'

/** One run of the crawl, from start to stop of the process. */
export interface RunFigures {
  readonly pages: number
  readonly failed: number
  readonly bytes: number
  readonly seconds: number
  readonly peakRssBytes: number
  readonly cpuSeconds: number
  /** How often an agent broke and was started again. */
  readonly restarts: number
}

/** All figures are for the crawl since its directory began; `run` is for the last run alone. */
/** Of a node: which part of which crawl this is. */
export interface ClusterPlace {
  readonly crawl: string
  readonly node: string
  /** Where its engine is, without logins. */
  readonly servers: readonly string[]
}

export interface CrawlSummary {
  /** Left out where the crawl is of one machine; else everything here is this node's part alone. */
  readonly cluster?: ClusterPlace
  readonly pages: number
  readonly failed: number
  /** The failed URLs by code. */
  readonly failures: Partial<Readonly<Record<FailureCode, number>>>
  /** The pages by class of their status. */
  readonly answers: Answers
  readonly skipped: Partial<Readonly<Record<SkipReason, number>>>
  readonly bytes: number
  readonly seconds: number
  readonly hosts: number
  /** pages + failed + all skipped + waiting. */
  readonly urlsSeen: number
  readonly waiting: number
  readonly peakRssBytes: number
  readonly cpuSeconds: number
  /** How many agents work on it. */
  readonly agents: number
  /** Where the files of the archive are. */
  readonly archive: ArchiveFigures
  readonly dir: string
  readonly stoppedBecause: StopReason
  /** Where every host left rests: when the first of them may be asked, ISO 8601, UTC; else null. */
  readonly nextAskAt: string | null
  /** Links turned away before they were counted as seen. */
  readonly refused: Partial<Readonly<Record<RefusalReason, number>>>
  readonly run: RunFigures
  /** As they were given; where they redirect to is in pages.jsonl. */
  readonly seeds: readonly string[]
  /** ISO 8601, UTC. */
  readonly startedAt: string
  readonly finishedAt: string
  /** The configuration as it was in force, nested by room. */
  readonly options: Readonly<Record<string, unknown>>
}

/** The summary of a crawl, or null when there is none: it still runs, or it was killed. */
export async function loadCrawlSummary(dir: string): Promise<CrawlSummary | null> {
  const path = join(dir, 'crawl.json')
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
  return completeSummary(parseObject(text), dir)
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    // A summary cut short by a crash says as much as none; the figures come from the other files.
    return {}
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Fills what an older or broken file lacks with nothing counted, so that readers need no checks. */
function completeSummary(found: Readonly<Record<string, unknown>>, dir: string): CrawlSummary | null {
  if (typeof found['stoppedBecause'] !== 'string') return null
  const text = (name: string): string => (typeof found[name] === 'string' ? found[name] : '')
  const counts = (name: string): Record<string, number> => {
    const value = found[name]
    return isObject(value) ? Object.fromEntries(Object.keys(value).map((key) => [key, number(value, key)])) : {}
  }
  const run = isObject(found['run']) ? found['run'] : {}
  const seeds = found['seeds']
  return {
    pages: number(found, 'pages'),
    failed: number(found, 'failed'),
    failures: counts('failures'),
    answers: answersOf(counts('answers')),
    skipped: counts('skipped'),
    bytes: number(found, 'bytes'),
    seconds: number(found, 'seconds'),
    hosts: number(found, 'hosts'),
    urlsSeen: number(found, 'urlsSeen'),
    waiting: number(found, 'waiting'),
    peakRssBytes: number(found, 'peakRssBytes'),
    cpuSeconds: number(found, 'cpuSeconds'),
    agents: Math.max(1, number(found, 'agents')),
    archive: archiveFiguresOf(found['archive']),
    dir: text('dir') || dir,
    stoppedBecause: found['stoppedBecause'] as StopReason,
    nextAskAt: text('nextAskAt') || null,
    refused: counts('refused'),
    run: {
      pages: number(run, 'pages'),
      failed: number(run, 'failed'),
      bytes: number(run, 'bytes'),
      seconds: number(run, 'seconds'),
      peakRssBytes: number(run, 'peakRssBytes'),
      cpuSeconds: number(run, 'cpuSeconds'),
      restarts: number(run, 'restarts'),
    },
    seeds: Array.isArray(seeds) ? seeds.filter((seed): seed is string => typeof seed === 'string') : [],
    startedAt: text('startedAt'),
    finishedAt: text('finishedAt'),
    options: isObject(found['options']) ? found['options'] : {},
  }
}

function number(of: Readonly<Record<string, unknown>>, name: string): number {
  const value = of[name]
  return typeof value === 'number' && Number.isFinite(value) ? value : 0
}
