// Who was asked: the largest, the slowest, the most linked hosts, and those with the most errors.

import { formatBytes } from '../../base/index.ts'
import type { CrawlReport } from '../crawl-report.ts'
import { formatCount, formatNumberOf, formatShare, formatSpan } from '../figures.ts'
import type { HostFigures } from '../host-table.ts'
import { bar, type Tone } from './charts.ts'
import { html, type Markup, shorten } from './markup.ts'

/** Rows one sees; more than that is for the files. */
const ROWS = 12

interface HostColumn<T> {
  readonly name: string
  readonly text: (host: T) => string
}

interface HostList<T extends { readonly host: string }> {
  readonly name: string
  readonly says: string
  readonly hosts: readonly T[]
  readonly figure: (host: T) => number
  readonly tone: Tone
  readonly columns: readonly HostColumn<T>[]
}

export function hostsSection({ hosts, links, summary, hasEnded }: CrawlReport): Markup | null {
  if (hosts.count === 0) return null
  const pages: HostColumn<HostFigures> = { name: 'pages', text: (host) => formatCount(host.pages) }
  return html`<section id="hosts">
    <h2>Hosts</h2>
    <p>
      ${formatNumberOf(hosts.count, 'host')}
      asked${hosts.silent === 0 ? '' : `, of which ${formatCount(hosts.silent)} never answered`}.
      ${hasEnded ? unaskedText((summary?.hosts ?? 0) - hosts.count) : ''}
      ${hosts.dropped === 0 ? '' : `Figures of ${formatNumberOf(hosts.dropped, 'quiet one was', 'quiet ones were')} dropped while counting.`}
    </p>
    <div class="grid">
      ${hostList({
        name: 'Most pages',
        says: 'pages and bytes fetched',
        hosts: hosts.byPages,
        figure: (host) => host.pages,
        tone: 'accent',
        columns: [pages, { name: 'size', text: (host) => formatBytes(host.bytes) }],
      })}
      ${hostList({
        name: 'Slowest',
        says: 'time to the first byte, on average and for the slowest 5 %',
        hosts: hosts.slowest,
        figure: (host) => host.meanMs,
        tone: 'warn',
        columns: [
          { name: 'mean', text: (host) => formatSpan(host.meanMs) },
          { name: '95 %', text: (host) => formatSpan(host.p95Ms) },
          pages,
        ],
      })}
      ${hostList({
        name: 'Most linked',
        says: 'pages of other hosts that link to it',
        hosts: links?.hosts ?? [],
        figure: (host) => host.pages,
        tone: 'moved',
        columns: [
          { name: 'pages', text: (host) => formatCount(host.pages) },
          { name: 'links', text: (host) => formatCount(host.links) },
        ],
      })}
      ${hostList({
        name: 'Most errors',
        says: 'answers of 400 and above, and URLs given up',
        hosts: hosts.byErrors,
        figure: (host) => host.errors,
        tone: 'bad',
        columns: [
          { name: 'errors', text: (host) => formatCount(host.errors) },
          { name: 'share', text: (host) => formatShare(host.errors, Math.max(host.errors, host.pages)) },
        ],
      })}
    </div>
  </section>`
}

/** Hosts whose URLs were all skipped, or still wait. */
function unaskedText(count: number): string {
  return count <= 0 ? '' : `${formatNumberOf(count, 'more was', 'more were')} met, but not asked for a page.`
}

function hostList<T extends { readonly host: string }>(list: HostList<T>): Markup | null {
  if (list.hosts.length === 0) return null
  const max = Math.max(...list.hosts.map(list.figure))
  return html`<div class="card">
    <table class="bars">
      <caption>
        ${list.name}<span>${list.says}</span>
      </caption>
      <thead>
        <tr>
          <th scope="col">host</th>
          <th class="bar"></th>
          ${list.columns.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${list.hosts.slice(0, ROWS).map(
          (host) =>
            html`<tr>
              <th scope="row">${shorten(host.host, 60)}</th>
              ${bar(list.figure(host), max, list.tone)}
              ${list.columns.map(({ text }) => html`<td class="number">${text(host)}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
