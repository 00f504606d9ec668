// How it ran: what it took, with which settings, and where everything is.

import { formatBytes } from '../../base/index.ts'
import type { CrawlReport } from '../crawl-report.ts'
import type { CrawlSummary } from '../crawl-summary.ts'
import { formatCount, formatRate, formatSpan } from '../figures.ts'
import { html, type Markup, shorten } from './markup.ts'
import { changedSettings } from './setting-rows.ts'

const ROWS_MAX = 150

const FILES: readonly (readonly [name: string, text: string])[] = [
  ['pages.jsonl', 'one line for each page'],
  ['failures.jsonl', 'one line for each URL given up or skipped'],
  ['archive/', 'the pages themselves, as WARC files, with their CDXJ index'],
  ['crawl.json', 'the figures of the crawl and all its settings'],
]

export function settings({ summary, hasEnded, dir, pages, unreadableLines }: CrawlReport): Markup {
  const took: [string, string][] = []
  if (summary !== null && hasEnded) {
    took.push(['Peak memory', formatBytes(summary.peakRssBytes)])
    took.push(['CPU time', formatSpan(summary.cpuSeconds * 1_000)])
    if (pages > 0) took.push(['CPU time per page', `${formatRate((summary.cpuSeconds * 1e6) / pages)} µs`])
    took.push(['URLs seen', formatCount(summary.urlsSeen)])
    took.push(['Seeds', formatCount(summary.seeds.length)])
  }
  if (unreadableLines > 0) took.push(['Lines that could not be read', formatCount(unreadableLines)])
  return html`<section id="settings">
    <h2>How it ran</h2>
    <p>The directory of this crawl is <code class="url">${shorten(dir, 300)}</code>.</p>
    <div class="grid">
      ${took.length === 0 ? null : pairs('What it took', took)} ${pairs('Where things are', filesOf(summary))}
      ${summary === null ? null : optionTable(summary.options)}
    </div>
  </section>`
}

/** Not every crawl keeps an archive, and only one that stopped has told its figures. */
function filesOf(summary: CrawlSummary | null): typeof FILES {
  const store = summary?.options['store'] as { readonly warc?: unknown } | null | undefined
  return FILES.filter(
    ([name]) => !(name === 'archive/' && store?.warc === 'none') && !(name === 'crawl.json' && summary === null),
  )
}

function optionTable(options: Readonly<Record<string, unknown>>): Markup | null {
  if (Object.keys(options).length === 0) return null
  const rows = changedSettings(options)
  return html`<div class="card wide">
    ${
      rows.length === 0
        ? html`<p>All settings were the defaults; <code>crawl.json</code> has them.</p>`
        : pairTable('Settings other than the defaults', rows.slice(0, ROWS_MAX))
    }
  </div>`
}

function pairs(name: string, rows: readonly (readonly [string, string])[]): Markup {
  return html`<div class="card">${pairTable(name, rows)}</div>`
}

function pairTable(name: string, rows: readonly (readonly [string, string])[]): Markup {
  return html`<table class="pairs">
    <caption>
      ${name}
    </caption>
    <tbody>
      ${rows.map(
        ([key, value]) =>
          html`<tr>
            <th scope="row">${key}</th>
            <td class="url">${value}</td>
          </tr>`,
      )}
    </tbody>
  </table>`
}
