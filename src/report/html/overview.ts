// The first screen: what was crawled, whether it is complete, how much, how fast, what is wrong.

import { formatBytes } from '../../base/index.ts'
import type { CrawlReport } from '../crawl-report.ts'
import { formatCount, formatDate, formatNumberOf, formatRate, formatShare, formatSpan } from '../figures.ts'
import type { TallyRows } from '../tally.ts'
import { verdictOf } from '../verdict.ts'
import { type StackPart, stackedBar } from './charts.ts'
import { html, type Markup, shorten } from './markup.ts'

/** A compass rose: what all lines of a portolan chart start from. */
export const ROSE_PATHS =
  '<path d="M12 1l2.6 8.4L23 12l-8.4 2.6L12 23l-2.6-8.4L1 12l8.4-2.6z" fill="currentColor"/><path d="M12 5.5L13 11l5.5 1-5.5 1-1 5.5-1-5.5-5.5-1 5.5-1z" fill="none" stroke="currentColor" stroke-width=".6" transform="rotate(45 12 12)"/>'

/** What the crawl is called: its seed, its first seed, or its directory. */
export function subjectOf(report: CrawlReport): string {
  const seeds = report.summary?.seeds ?? []
  const first = seeds[0]
  if (first === undefined) return report.dir
  const name = first.replace(/^[a-z]+:\/\//, '').replace(/\/$/, '')
  return seeds.length === 1 ? name : `${name} and ${formatNumberOf(seeds.length - 1, 'more seed')}`
}

/** `nav` leads to the sections below. */
export function masthead(report: CrawlReport, rose: Markup, nav: Markup): Markup {
  const { summary, hasEnded } = report
  const verdict = verdictOf(hasEnded ? summary : null, report.dir)
  const started = summary === null ? null : formatDate(summary.startedAt)
  const when = [
    started === null ? null : `Begun ${started}`,
    secondsOf(report) > 0 ? `crawled for ${formatSpan(secondsOf(report) * 1_000)}` : null,
  ].filter((part) => part !== null)
  return html`<header class="masthead">
    <div class="brand">${rose} Portolan crawl report ${nav}</div>
    <h1>${shorten(subjectOf(report), 120)}</h1>
    <div class="soft">${when.join(', ').replace(/^c/, 'C')}</div>
    <div class="verdict ${verdict.tone}">
      ${verdictIcon(verdict.tone)}
      <div>
        <p><strong>${verdict.headline}</strong></p>
        ${verdict.advice === '' ? null : html`<p>${verdict.advice}</p>`}
        ${verdict.command === null ? null : html`<code>${shorten(verdict.command, 400)}</code>`}
      </div>
    </div>
  </header>`
}

/** An old summary knows less than the samples taken since. */
function secondsOf({ summary, hasEnded, timeline }: CrawlReport): number {
  return (hasEnded ? summary?.seconds : timeline.at(-1)?.t) ?? 0
}

function waitingOf({ summary, hasEnded, timeline }: CrawlReport): number {
  return (hasEnded ? summary?.waiting : timeline.at(-1)?.waiting) ?? 0
}

function verdictIcon(tone: 'good' | 'warn' | 'bad'): Markup {
  return tone === 'good'
    ? html`<svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="11" fill="currentColor" />
        <path d="M7 12.5l3.5 3.5L17 9" fill="none" stroke="var(--wash)" stroke-width="2.4" />
      </svg>`
    : html`<svg viewBox="0 0 24 24" aria-hidden="true">
        <circle cx="12" cy="12" r="11" fill="currentColor" />
        <path d="M12 6v7.5M12 16v2.4" stroke="var(--wash)" stroke-width="2.6" />
      </svg>`
}

interface Card {
  readonly name: string
  readonly figure: string
  readonly unit?: string
  readonly note: string
  readonly tone?: 'good' | 'bad'
}

export function overview(report: CrawlReport): Markup {
  return html`<section id="overview" aria-label="Overview">
    <dl class="cards">
      ${cardsOf(report).map(
        ({ name, figure, unit, note, tone }) =>
          html`<div class="card ${tone ?? ''}">
            <dt>${name}</dt>
            <dd class="figure">${figure}${unit === undefined ? null : html` <small>${unit}</small>`}</dd>
            <dd class="soft">${note}</dd>
          </div>`,
      )}
    </dl>
    ${whatBecame(report)}
  </section>`
}

function cardsOf(report: CrawlReport): Card[] {
  const { pages, bytes, wireBytes, broken, duplicates, skips, skipped } = report
  const seconds = secondsOf(report)
  const waiting = waitingOf(report)
  const mib = formatBytes(bytes).split(' ')
  return [
    {
      name: 'Pages',
      figure: formatCount(pages),
      note: pages === 0 ? 'none' : `${formatShare(report.ok, pages)} answered with content`,
    },
    {
      name: 'Speed',
      figure: seconds > 0 ? formatRate(pages / seconds) : '–',
      unit: 'pages/s',
      note: seconds > 0 ? `${formatBytes(bytes / seconds)}/s over ${formatSpan(seconds * 1_000)}` : 'not known',
    },
    {
      name: 'Data',
      figure: mib[0] ?? '',
      unit: mib[1] ?? '',
      note: `${formatBytes(wireBytes)} on the wire, median page ${formatBytes(report.sizes.median)}`,
    },
    {
      name: 'Hosts',
      figure: formatCount(report.hosts.count),
      note: hostsNote(report),
    },
    {
      name: 'Broken URLs',
      figure: formatCount(broken.count),
      tone: broken.count === 0 ? 'good' : 'bad',
      note:
        broken.count === 0
          ? 'every URL asked for was answered'
          : brokenNote(broken.count - broken.loops - report.failed, report.failed, broken.loops),
    },
    {
      name: 'Skipped',
      figure: formatCount(skipped),
      note: skipsNote(skips),
    },
    {
      name: 'Duplicates',
      figure: formatCount(duplicates.pages),
      note:
        duplicates.pages === 0
          ? 'no content came twice'
          : `${formatShare(duplicates.pages, pages)} of pages, ${formatBytes(duplicates.bytes)}`,
    },
    {
      name: 'Waiting',
      figure: formatCount(waiting),
      note:
        waiting > 0 ? 'known, but not fetched yet' : report.hasEnded ? 'nothing is left to fetch' : 'as far as known',
    },
    ...archiveCards(report),
  ]
}

/** Nothing where no archive is kept. */
function archiveCards({ archive, lostArchives }: CrawlReport): Card[] {
  const { shipped, onlyHere, to } = archive
  const files = shipped.files + onlyHere.files
  if (files === 0 && lostArchives.pages + lostArchives.again === 0) return []
  const lost = lostNote(lostArchives)
  return [
    {
      name: 'WARC files',
      figure: formatCount(files),
      note: lost === '' ? archiveNote(archive) : `${archiveNote(archive)}; ${lost}`,
      ...(lostArchives.pages > 0 || (to !== null && onlyHere.files > 0) ? { tone: 'bad' as const } : {}),
    },
  ]
}

function archiveNote({ shipped, onlyHere, onlyThere, to }: CrawlReport['archive']): string {
  if (to === null) return 'on this machine alone'
  const there = onlyHere.files === 0 ? `all at ${to}` : `${formatCount(shipped.files)} at ${to}`
  const here = onlyHere.files === 0 ? '' : `, ${formatCount(onlyHere.files)} here only`
  return `${there}${here}${onlyThere.files === 0 ? '' : `, ${formatCount(onlyThere.files)} not here any more`}`
}

function lostNote({ files, pages, again }: CrawlReport['lostArchives']): string {
  const lost = files === 0 ? '' : `${formatNumberOf(files, 'file')} lost with ${formatNumberOf(pages, 'page')}`
  const back = again === 0 ? '' : `${formatNumberOf(again, 'page')} put back in line since their file was lost`
  return [lost, back].filter((part) => part !== '').join('; ')
}

function hostsNote({ hosts, pages, responseTimes }: CrawlReport): string {
  if (pages === 0) return 'none answered'
  if (hosts.silent > 0) return `asked; ${formatCount(hosts.silent)} never answered`
  return `half the answers began within ${formatSpan(responseTimes.median)}`
}

function skipsNote({ rows }: TallyRows): string {
  const [first, second] = rows
  if (first === undefined) return 'nothing was left out'
  return second === undefined ? `all for ${first.name}` : `mostly ${first.name}: ${formatCount(first.count)}`
}

function brokenNote(errors: number, silent: number, loops: number): string {
  const parts = [
    errors === 0 ? null : `${formatCount(errors)} answered with an error`,
    silent === 0 ? null : `${formatCount(silent)} gave no answer`,
    loops === 0 ? null : `${formatCount(loops)} redirected in a loop`,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

/** Every URL that was met, by what became of it. */
function whatBecame(report: CrawlReport): Markup | null {
  const { answers } = report
  const parts: StackPart[] = [
    { name: 'Content', count: answers['2xx'], tone: 'good' },
    { name: 'Unchanged (304)', count: answers.unchanged ?? 0, tone: 'accent' },
    { name: 'Redirects', count: answers['3xx'], tone: 'moved' },
    { name: 'Client errors (4xx)', count: answers['4xx'], tone: 'warn' },
    { name: 'Server errors (5xx)', count: answers['5xx'], tone: 'bad' },
    { name: 'Other answers', count: answers.other, tone: 'accent' },
    { name: 'No answer', count: report.failed, tone: 'silent' },
    { name: 'Skipped', count: report.skipped, tone: 'idle' },
    { name: 'Waiting', count: waitingOf(report), tone: 'line' },
  ]
  const total = parts.reduce((sum, part) => sum + part.count, 0)
  if (total === 0) return null
  return html`<div class="card became">
    <h3>What became of ${formatNumberOf(total, 'URL')}</h3>
    ${stackedBar('What became of the URLs; the list below has the numbers', parts)}
  </div>`
}
