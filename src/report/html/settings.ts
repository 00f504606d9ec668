// How it ran: what it took, with which settings, and where everything is.

import { formatBytes } from '../../base/index.ts'
import type { CrawlReport } from '../crawl-report.ts'
import { formatCount, formatRate, formatSpan } from '../figures.ts'
import { html, type Markup, shorten } from './markup.ts'

/** A report is passed around: values under such names stay at home. */
const SECRET_NAME = /auth|passw|secret|token|credential|cookie|header|proxy|key$/i
const ROWS_MAX = 150

const FILES: readonly (readonly [name: string, text: string])[] = [
  ['pages.jsonl', 'one line for each page'],
  ['failures.jsonl', 'one line for each URL given up or skipped'],
  ['archive/', 'the pages themselves, as WARC files, with their CDXJ index'],
  ['crawl.json', 'the figures of the crawl'],
]

export function settings({ summary, dir, pages, unreadableLines }: CrawlReport): Markup {
  const took: [string, string][] = []
  if (summary !== null) {
    took.push(['Peak memory', formatBytes(summary.peakRssBytes)])
    took.push(['CPU time', formatSpan(summary.cpuSeconds * 1_000)])
    if (pages > 0) took.push(['CPU time per page', `${formatRate((summary.cpuSeconds * 1e6) / pages)} µs`])
    took.push(['URLs seen', formatCount(summary.urlsSeen)])
    took.push(['Seeds', formatCount(summary.seeds.length)])
  }
  if (unreadableLines > 0) took.push(['Lines that could not be read', formatCount(unreadableLines)])
  const options = flatten(summary?.options ?? {})
  return html`<section id="settings">
    <h2>How it ran</h2>
    <p>The directory of this crawl is <code class="url">${shorten(dir, 300)}</code>.</p>
    <div class="grid">
      ${took.length === 0 ? null : pairs('What it took', took)} ${pairs('Where things are', FILES)}
      ${
        options.length === 0
          ? null
          : html`<div class="card wide">
              <details>
                <summary>Settings (${formatCount(options.length)})</summary>
                ${pairTable('Settings', options.slice(0, ROWS_MAX))}
              </details>
            </div>`
      }
    </div>
  </section>`
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

/** Options as dotted names and short texts; secrets only as being set. */
export function flatten(options: Readonly<Record<string, unknown>>, prefix = ''): [string, string][] {
  return Object.entries(options).flatMap(([name, value]): [string, string][] => {
    const path = prefix === '' ? name : `${prefix}.${name}`
    const isSet = value !== null && value !== undefined && value !== '' && !(Array.isArray(value) && value.length === 0)
    if (SECRET_NAME.test(name)) return [[path, isSet ? '(set, not shown)' : 'not set']]
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return flatten(value as Record<string, unknown>, path)
    }
    return [[path, shorten(isSet ? textOf(value) : 'not set', 300)]]
  })
}

/** User names and passwords in URLs are secrets wherever they stand. */
function textOf(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.replace(/:\/\/[^/@\s"]+@/g, '://')
}
