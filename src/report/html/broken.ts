// What is broken and where: each URL with what happened and the pages that link to it.

import { STATUS_CODES } from './status-codes.ts'
import { type FailureCode, FAILURES } from '../../base/index.ts'
import type { BrokenUrl, CrawlReport } from '../crawl-report.ts'
import { formatCount, formatNumberOf } from '../figures.ts'
import { html, type Markup, shorten, urlLink } from './markup.ts'

/** Rows one sees at once; the others unfold. */
const ROWS_OPEN = 25
/** Bounds the page: a row of long URLs may take several kB. */
const TABLE_BYTES_MAX = 400_000

export function brokenSection({ broken }: CrawlReport): Markup {
  if (broken.count === 0) {
    return html`<section id="broken">
      <h2>Broken</h2>
      <p>Every URL that was asked for was answered without an error.</p>
    </section>`
  }
  const rows: Markup[] = []
  let bytes = 0
  for (const url of broken.listed) {
    const row = brokenRow(url)
    bytes += row.text.length
    if (bytes > TABLE_BYTES_MAX) break
    rows.push(row)
  }
  const folded = rows.slice(ROWS_OPEN)
  return html`<section id="broken">
    <h2>Broken</h2>
    <p>
      ${formatNumberOf(broken.count, 'URL')} answered with an error or not at
      all${broken.loops === 0 ? '' : ', or redirected in a loop'}${broken.count === 1 ? '' : ', the most linked first'}.
      ${rows.length < broken.count ? `The first ${formatCount(rows.length)} are listed; all are in failures.jsonl and pages.jsonl.` : ''}
    </p>
    <div class="card">
      ${brokenTable('Broken URLs and the pages that link to them', rows.slice(0, ROWS_OPEN))}
      ${
        folded.length === 0
          ? null
          : html`<details class="more">
              <summary>Show ${formatCount(folded.length)} more</summary>
              ${brokenTable('More broken URLs', folded)}
            </details>`
      }
    </div>
  </section>`
}

function brokenTable(name: string, rows: readonly Markup[]): Markup {
  return html`<table class="broken stacked">
    <caption class="hidden">
      ${name}
    </caption>
    <thead>
      <tr>
        <th scope="col">URL</th>
        <th scope="col" class="what">What happened</th>
        <th scope="col" class="from">Linked from</th>
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`
}

function brokenRow({ url, status, failure, detail, linkedFrom, sources }: BrokenUrl): Markup {
  const [first, ...others] = sources
  const more = linkedFrom - 1
  return html`<tr>
    <th scope="row">${urlLink(url)}</th>
    <td>${status === null ? failureState(failure ?? '', detail) : statusState(status, detail)}</td>
    <td data-name="Linked from">
      ${first === undefined ? html`<span class="soft">a seed; no page links to it</span>` : urlLink(first)}
      ${
        more <= 0 || others.length === 0
          ? null
          : html`<details>
              <summary>and ${formatNumberOf(more, 'more page')}</summary>
              <ul>
                ${others.map((source) => html`<li>${urlLink(source)}</li>`)}
                ${more > others.length ? html`<li class="soft">and ${formatNumberOf(more - others.length, 'other')}</li>` : null}
              </ul>
            </details>`
      }
    </td>
  </tr>`
}

function statusState(status: number, detail: string): Markup {
  const says = detail === '' ? (STATUS_CODES[status] ?? '') : detail
  return html`<span class="state ${status >= 500 ? 'bad' : 'warn'}">${status}</span> ${says}`
}

function failureState(code: string, detail: string): Markup {
  return html`<span class="state bad">no answer</span> ${FAILURES[code as FailureCode] ?? code}<small
      >${shorten(code, 60)}${detail === '' ? '' : ` · ${shorten(detail, 90)}`}</small
    >`
}
