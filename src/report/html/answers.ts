// How servers answered, and what was never asked.

import { STATUS_CODES } from './status-codes.ts'
import { type FailureCode, FAILURES, REFUSALS, type RefusalReason, type SkipReason, SKIPS } from '../../base/index.ts'
import type { CrawlReport, Spread } from '../crawl-report.ts'
import { formatCount, formatNumberOf, formatSpan } from '../figures.ts'
import type { TallyRows } from '../tally.ts'
import { barTable, columnChart, type Tone } from './charts.ts'
import { html, type Markup } from './markup.ts'

export function answers(report: CrawlReport): Markup | null {
  const { statuses, failures, responseTimes, redirects, failed, pages } = report
  if (pages === 0 && failed === 0) return null
  return html`<section id="answers">
    <h2>Answers</h2>
    <p>
      ${formatNumberOf(pages, 'answer')}${failed === 0 ? '' : `; ${formatNumberOf(failed, 'URL was', 'URLs were')} given up without one`}.
      ${redirectsText(redirects)}
    </p>
    <div class="grid">
      ${
        pages === 0
          ? null
          : html`<div class="pile">${statusTable(statuses)} ${failed > 0 ? timeChart(responseTimes) : null}</div>`
      }
      ${failed > 0 ? failureTable(failures) : timeChart(responseTimes)}
    </div>
  </section>`
}

function redirectsText({ permanent, temporary }: CrawlReport['redirects']): string {
  if (permanent === 0 && temporary === 0) return ''
  const say = (count: number): string => formatNumberOf(count, 'redirect says it is', 'redirects say they are')
  if (permanent === 0) return `${say(temporary)} temporary.`
  return `${say(permanent)} permanent${temporary === 0 ? '' : `, ${formatCount(temporary)} temporary`}.`
}

function failureTable(rows: TallyRows): Markup {
  return barTable({
    name: 'No answer, and why',
    rows,
    of: 'reason',
    label: (name) => explained(name, FAILURES[name as FailureCode]),
    tone: () => 'silent',
  })
}

function statusTable(rows: TallyRows): Markup {
  return barTable({
    name: 'Status codes',
    rows,
    of: 'status',
    label: (name) => html`${name} ${STATUS_CODES[name] ?? ''}`,
    tone: (name) => statusTone(Number(name)),
  })
}

function timeChart({ median, p95, max, buckets }: Spread): Markup {
  return columnChart(
    'Time to the first byte',
    `half within ${formatSpan(median)}, 95 % within ${formatSpan(p95)}, longest ${formatSpan(max)}`,
    buckets.map(({ from, to, count }) => ({
      label: formatSpan(from),
      range: `${formatSpan(from)} to ${formatSpan(to)}`,
      count,
    })),
  )
}

/** Skipped: met, counted, not fetched. Refused: links not even counted. */
export function notFetched({ summary, skips, skipped }: CrawlReport): Markup | null {
  const refused = Object.entries(summary?.refused ?? {}).filter(([, count]) => count > 0)
  if (skipped === 0 && refused.length === 0) return null
  const total = refused.reduce((sum, [, count]) => sum + count, 0)
  const refusals: TallyRows = {
    rows: refused.map(([name, count]) => ({ name, count, weight: 0 })).sort((a, b) => b.count - a.count),
    others: { names: 0, count: 0, weight: 0 },
    total,
  }
  return html`<section id="not-fetched">
    <h2>Not fetched</h2>
    <p>
      What the crawl chose to leave out: URLs that were skipped after they were counted, and links that were turned away
      before.
    </p>
    <div class="grid">
      ${
        skipped === 0
          ? null
          : barTable({
              name: 'Skipped URLs',
              says: formatNumberOf(skipped, 'URL'),
              rows: skips,
              of: 'reason',
              label: (name) => explained(name, SKIPS[name as SkipReason]),
              tone: () => 'idle',
            })
      }
      ${
        total === 0
          ? null
          : barTable({
              name: 'Links turned away',
              says: `${formatNumberOf(total, 'link')}, each time one was met`,
              rows: refusals,
              of: 'reason',
              label: (name) => explained(name, REFUSALS[name as RefusalReason]),
              tone: () => 'idle',
            })
      }
    </div>
  </section>`
}

function explained(name: string, text: string | undefined): Markup {
  return html`${name}${text === undefined ? null : html`<small>${text}</small>`}`
}

function statusTone(status: number): Tone {
  return status >= 500 ? 'bad' : status >= 400 ? 'warn' : status >= 300 ? 'moved' : 'good'
}
