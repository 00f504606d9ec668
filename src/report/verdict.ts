// Whether a crawl is complete, and what to do when it is not: the same words on the terminal and on
// the page.

import { STOPS } from '../base/index.ts'
import type { CrawlSummary } from './crawl-summary.ts'
import { formatNumberOf } from './figures.ts'

export interface Verdict {
  readonly tone: 'good' | 'warn' | 'bad'
  readonly headline: string
  /** A sentence on how to go on; empty when there is nothing to do. */
  readonly advice: string
  /** What to type; null when there is nothing to do. */
  readonly command: string | null
}

export function verdictOf(summary: CrawlSummary | null, dir: string): Verdict {
  if (summary === null) {
    return {
      tone: 'warn',
      headline: 'Not stopped properly: the crawl still runs, or was killed',
      advice: 'What is here is what was written so far. If it no longer runs, the same command goes on where it was.',
      command: `portolan crawl --dir ${shellWord(dir)}`,
    }
  }
  const { stoppedBecause, waiting, pages, seeds } = summary
  const left = waiting === 0 ? '' : `; ${formatNumberOf(waiting, 'URL waits', 'URLs wait')}`
  const command = goOnCommand(summary)
  if (stoppedBecause === 'finished') {
    if (pages > 0) return { tone: 'good', headline: 'Complete: nothing is left to fetch', advice: '', command: null }
    return {
      tone: 'bad',
      headline: 'No page was fetched',
      advice:
        seeds.length === 1
          ? 'The seed yielded no page: failures.jsonl and the report say why.'
          : 'No seed yielded a page: failures.jsonl and the report say why.',
      command: null,
    }
  }
  const why = STOPS[stoppedBecause] ?? stoppedBecause
  const headline = `${why.startsWith('stopped') ? why.replace('s', 'S') : `Stopped: ${why}`}${left}`
  switch (stoppedBecause) {
    case 'max-pages':
      return { tone: 'warn', headline, advice: 'Limits are totals: raise --max-pages and the crawl goes on.', command }
    case 'max-time':
      return { tone: 'warn', headline, advice: 'Limits are totals: raise --max-time and the crawl goes on.', command }
    case 'only-resting':
      return { tone: 'warn', headline, advice: 'Run it again later, or raise --max-wait.', command }
    case 'disk-full':
      return { tone: 'bad', headline, advice: 'Free some space; then the same command goes on where it was.', command }
    case 'error':
      return {
        tone: 'bad',
        headline,
        advice: 'Nothing committed is lost; the same command goes on where it was.',
        command,
      }
    default:
      return { tone: 'warn', headline, advice: 'The same command goes on where it was.', command }
  }
}

/** Seeds beyond this many came from a file; the directory alone says which they were. */
const SEEDS_SHOWN_MAX = 2

function goOnCommand({ seeds, dir, stoppedBecause, pages, seconds }: CrawlSummary): string {
  const words = [
    'portolan',
    'crawl',
    ...(seeds.length <= SEEDS_SHOWN_MAX ? seeds : []).map(shellWord),
    '--dir',
    shellWord(dir),
  ]
  if (stoppedBecause === 'max-pages') words.push('--max-pages', String(2 * pages))
  if (stoppedBecause === 'max-time') words.push('--max-time', `${Math.max(2, Math.ceil(seconds / 30))}m`)
  return words.join(' ')
}

/** The text as one word of a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
