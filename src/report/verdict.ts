// Whether a crawl is complete, and what to do when it is not: the same words on the terminal and on
// the page.

import { STOPS } from '../base/index.ts'
import { isShippedWhole } from './archive-figures.ts'
import type { ClusterPlace, CrawlSummary } from './crawl-summary.ts'
import { formatNumberOf } from './figures.ts'

export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly headline: string
  /** A sentence on how to go on; empty when there is nothing to do. */
  readonly advice: string
  /** What to type; null when there is nothing to do. */
  readonly command: string | null
}

/** What is judged: a crawl, or its run that ends here and may have found nothing to do. */
export type Told = 'crawl' | 'run'

/** `summary` is null when the crawl has not ended; `dir` is where it lies now, it may have been moved. */
export function verdictOf(summary: CrawlSummary | null, dir: string, told: Told = 'crawl'): Verdict {
  if (summary === null) {
    return {
      tone: 'warn',
      headline: 'Not ended: the crawl still runs, or was killed',
      advice: 'This is what was written so far. If it no longer runs, it goes on where it was, with its settings:',
      command: goOnCommand(dir),
    }
  }
  if (summary.stoppedBecause === 'finished') return finishedVerdict(summary, dir, told)
  return summary.cluster === undefined ? stoppedVerdict(summary, dir) : nodeVerdict(summary, summary.cluster)
}

function finishedVerdict(summary: CrawlSummary, dir: string, told: Told): Verdict {
  const { pages, run, waiting } = summary
  if (pages === 0) {
    return {
      tone: 'bad',
      headline: 'No page came of it',
      advice: 'What became of each seed is in failures.jsonl.',
      command: null,
    }
  }
  const isIdle = told === 'run' && run.pages === 0 && run.failed === 0 && waiting === 0
  const complete = isIdle ? 'Already complete' : 'Complete'
  const lost = lossesOf(summary)
  const outside = outsideOf(summary)
  if (lost === '' && !isShippedWhole(summary.archive)) return unshippedVerdict(complete, summary, dir)
  if (lost === '') {
    const nothing = isIdle ? 'nothing was left to fetch' : 'nothing is left to fetch'
    const tone = outside === '' ? 'good' : 'warn'
    return { tone, headline: `${complete}: ${nothing}${outside}`, advice: '', command: null }
  }
  const headline = `${complete}, but ${lost}${outside}`
  if (summary.failed === 0) {
    return { tone: 'warn', headline, advice: 'Which, and why, stands below and in failures.jsonl.', command: null }
  }
  return {
    tone: 'warn',
    headline,
    advice: 'Which URLs, and why, stands in failures.jsonl. To have the next run ask again for those that failed:',
    command: `portolan requeue ${shellWord(dir)} --failed`,
  }
}

/** Nothing is lost: it is all here. */
function unshippedVerdict(complete: string, { archive }: CrawlSummary, dir: string): Verdict {
  const files = formatNumberOf(archive.onlyHere.files + archive.missing.length, 'file is', 'files are')
  return {
    tone: 'warn',
    headline: `${complete}, but ${files} not at ${archive.to} yet`,
    advice: `${archive.trouble === null ? '' : `${archive.trouble}. `}They are here, and are copied when the crawl is started again:`,
    command: goOnCommand(dir),
  }
}

/** What a changed scope keeps from being fetched was chosen, but may be a surprise: it is said with the way back. */
function outsideOf({ skipped }: CrawlSummary): string {
  const count = skipped['scope-changed'] ?? 0
  if (count === 0) return ''
  const urls = formatNumberOf(count, 'URL that waited lies', 'URLs that waited lie')
  return `; ${urls} outside the changed scope (with the former options the next run brings ${count === 1 ? 'it' : 'them'} back)`
}

/** What is missing from a complete crawl and could not be helped; what we chose to leave out is not a loss. */
function lossesOf({ failed, skipped }: CrawlSummary): string {
  const unasked = skipped['robots-unavailable'] ?? 0
  const silent = failed === 0 ? '' : `${formatNumberOf(failed, 'URL')} failed`
  if (unasked === 0) return silent
  const want = 'lost for want of a robots.txt'
  return failed === 0
    ? `${formatNumberOf(unasked, 'URL was', 'URLs were')} ${want}`
    : `${silent} and ${formatNumberOf(unasked, 'was', 'were')} ${want}`
}

function stoppedVerdict({ stoppedBecause, waiting, pages, seconds, nextAskAt }: CrawlSummary, dir: string): Verdict {
  const left = waiting === 0 ? '' : `; ${formatNumberOf(waiting, 'URL waits', 'URLs wait')}`
  const why = STOPS[stoppedBecause] ?? stoppedBecause
  const headline = `${why.startsWith('stopped') ? why.replace('s', 'S') : `Stopped: ${why}`}${left}`
  const command = goOnCommand(dir)
  const limits =
    '--max-pages and --max-time are totals and are not remembered. With a higher one, or none, it goes on with its settings:'
  switch (stoppedBecause) {
    case 'max-pages':
      return { tone: 'warn', headline, advice: limits, command: `${command} --max-pages ${2 * pages}` }
    case 'max-time': {
      const minutes = Math.max(2, Math.ceil(seconds / 30))
      return { tone: 'warn', headline, advice: limits, command: `${command} --max-time ${minutes}m` }
    }
    case 'only-resting':
      return {
        tone: 'warn',
        headline,
        advice: `${nextAskAt === null ? '' : `The first of them may be asked at ${nextAskAt}. `}Later, or now with a longer --max-wait, it goes on where it was, with its settings:`,
        command,
      }
    case 'disk-full':
      return {
        tone: 'bad',
        headline,
        advice: 'Free some space; then it goes on where it was, with its settings:',
        command,
      }
    case 'error':
      return {
        tone: 'bad',
        headline,
        advice: 'Nothing committed is lost. It goes on where it was, with its settings:',
        command,
      }
    default:
      return { tone: 'warn', headline, advice: 'It goes on where it was, with its settings:', command }
  }
}

/** Seeds and settings lie in the directory. */
/** A node of a cluster has stopped: the crawl is not its own. */
function nodeVerdict({ stoppedBecause, dir }: CrawlSummary, { crawl, node, servers }: ClusterPlace): Verdict {
  const why = STOPS[stoppedBecause] ?? stoppedBecause
  const isOver = stoppedBecause !== 'interrupted' && stoppedBecause !== 'error' && stoppedBecause !== 'disk-full'
  return {
    tone: 'warn',
    headline: `Stopped: ${why}`,
    advice: isOver
      ? 'The crawl ended so on all nodes. With other limits (portolan cluster set) it goes on when nodes join again:'
      : 'What this node had goes on with the others. It takes part again with:',
    command: `portolan node --join ${servers[0] ?? 'URL'} --crawl ${crawl} --name ${node} --dir ${shellWord(dir)}`,
  }
}

function goOnCommand(dir: string): string {
  return `portolan crawl --dir ${shellWord(dir)}`
}

/** The text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
