// What was fetched: types, sizes, depths, languages, and pages that stand out.

import { formatBytes } from '../../base/index.ts'
import type { CrawlReport, Spread } from '../crawl-report.ts'
import { formatCount, formatNumberOf } from '../figures.ts'
import { barTable, columnChart } from './charts.ts'
import { html, type Markup, shorten, urlLink } from './markup.ts'

export function content(report: CrawlReport): Markup | null {
  if (report.ok === 0) return null
  const { types, sizes, languages, charsets, servers, optOuts, topLevelDomains } = report
  return html`<section id="content">
    <h2>Content</h2>
    <p>${remarks(report)}</p>
    <div class="grid">
      <div class="pile">
        ${sizeChart(sizes)}
        ${barTable({ name: 'Media types', rows: types, of: 'type', weight: (row) => formatBytes(row.weight) })}
        ${languages.total === 0 ? null : barTable({ name: 'Languages', says: 'as pages declare them', rows: languages, of: 'language' })}
        ${charsets.total === 0 ? null : barTable({ name: 'Charsets', says: 'as pages were read', rows: charsets, of: 'charset' })}
      </div>
      <div class="pile">
        ${depthChart(report)} ${largestPages(report)} ${repeatedPages(report)}
        ${servers.total === 0 ? null : barTable({ name: 'Server software', says: 'as servers name it, versions left out', rows: servers, of: 'server' })}
        ${optOuts.total === 0 ? null : barTable({ name: 'Opt-outs', says: 'what pages ask not to be used for', rows: optOuts, of: 'opt-out' })}
        ${barTable({ name: 'Top-level domains', rows: topLevelDomains, of: 'domain' })}
      </div>
    </div>
  </section>`
}

function sizeChart({ median, mean, max, buckets }: Spread): Markup {
  return columnChart(
    'Sizes',
    `half up to ${formatBytes(median)}, mean ${formatBytes(mean)}, largest ${formatBytes(max)}`,
    buckets.map(({ from, to, count }) => ({
      label: formatBytes(from),
      range: `${formatBytes(from)} to ${formatBytes(to)}`,
      count,
    })),
  )
}

function remarks({ ok, truncations, undecoded, noindex, unstored, untitled, duplicates }: CrawlReport): string {
  const parts = [formatNumberOf(ok, 'page') + ' with content']
  if (duplicates.pages > 0) parts.push(`${formatCount(duplicates.pages)} the same as another`)
  if (truncations.total > 0) parts.push(`${formatCount(truncations.total)} cut short`)
  if (undecoded > 0) parts.push(`${formatCount(undecoded)} not encoded as they say`)
  if (noindex > 0) parts.push(`${formatNumberOf(noindex, 'asks', 'ask')} not to be indexed`)
  if (unstored > 0) parts.push(`${formatNumberOf(unstored, 'asks', 'ask')} not to be archived and left out`)
  if (untitled > 0) parts.push(`${formatNumberOf(untitled, 'HTML page')} without a title`)
  return `${parts.join(', ')}.`
}

function depthChart({ depths }: CrawlReport): Markup {
  const deepest = depths.length - 1
  return columnChart(
    'Distance from the seeds',
    `deepest ${formatNumberOf(deepest, 'link')} away`,
    depths.map((count, depth) => ({ label: String(depth), range: `${formatNumberOf(depth, 'link')} away`, count })),
  )
}

function largestPages({ largest }: CrawlReport): Markup | null {
  if (largest.length === 0) return null
  return html`<div class="card">
    <table>
      <caption>
        Largest pages
      </caption>
      <thead>
        <tr>
          <th scope="col">page</th>
          <th scope="col" class="number">size</th>
        </tr>
      </thead>
      <tbody>
        ${largest.slice(0, 8).map(
          ({ url, title, type, bytes, truncated }) =>
            html`<tr>
              <th scope="row" class="explained">
                ${urlLink(url)}<small
                  >${shorten([title, type].filter((part) => part !== null && part !== '').join(' · '), 120)}</small
                >
              </th>
              <td class="number">
                ${formatBytes(bytes)}${truncated === null ? null : html`<br /><span class="soft">cut (${truncated})</span>`}
              </td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

function repeatedPages({ duplicates }: CrawlReport): Markup | null {
  const rows = duplicates.mostRepeated.rows
  if (rows.length === 0) return null
  return html`<div class="card">
    <table>
      <caption>
        Most repeated pages<span>pages whose content came again under other URLs</span>
      </caption>
      <thead>
        <tr>
          <th scope="col">first seen at</th>
          <th scope="col" class="number">again</th>
          <th scope="col" class="number">size</th>
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, 8).map(
          ({ name, count, weight }) =>
            html`<tr>
              <th scope="row">${urlLink(name)}</th>
              <td class="number">${formatCount(count)}</td>
              <td class="number">${formatBytes(weight)}</td>
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
