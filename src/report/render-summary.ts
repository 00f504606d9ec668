// A crawl in a few aligned lines for the terminal, and what to do next.

import { join } from 'node:path'
import { formatBytes } from '../base/index.ts'
import type { Answers } from './answer-class.ts'
import { type ArchiveFigures, archiveText } from './archive-figures.ts'
import type { CrawlReport } from './crawl-report.ts'
import type { CrawlSummary } from './crawl-summary.ts'
import { formatCount, formatNumberOf, formatRate, formatSpan } from './figures.ts'
import { ALL_FILES, type Outputs } from './outputs.ts'
import { printable } from './printable.ts'
import type { TallyRows } from './tally.ts'
import { type Verdict, verdictOf } from './verdict.ts'

export interface SummaryStyle {
  readonly colour: boolean
  /** Columns of the terminal; lines are folded to it. */
  readonly width: number
  /** Whether report.html is there to be named. Yes when it is not given. */
  readonly hasReport?: boolean
  /** The files that are; when not given, all of them, or none where there was no room even for the report. */
  readonly files?: Outputs['files']
}

/** What is said of a crawl, ended or not. */
interface Figures {
  readonly dir: string
  readonly pages: number
  readonly hosts: number
  readonly bytes: number
  readonly seconds: number
  readonly answers: Answers
  readonly failed: number
  readonly failures: Readonly<Record<string, number>>
  readonly skipped: Readonly<Record<string, number>>
  readonly waiting: number
  readonly archive?: ArchiveFigures
}

type Row = readonly [name: string, text: string]

const NAME_COLUMNS = 10
const WIDTH_MIN = 40
const COLOURS = { good: '32', warn: '33', bad: '31', dim: '2', bold: '1' } as const

/**
 * The end of a run. Ends with a line end. Everything in it that may come from the web is printable.
 * When no page came of the crawl, the last line says so and leads on to the reasons, which are the caller's to print.
 */
export function renderSummary(summary: CrawlSummary, style: SummaryStyle): string {
  return render(summary, verdictOf(summary, summary.dir, 'run'), style)
}

/** The same for a crawl as its files have it, also when it still runs or was killed. */
export function renderFigures(report: CrawlReport, style: SummaryStyle): string {
  const { summary, hasEnded, dir } = report
  const verdict = verdictOf(hasEnded ? summary : null, dir)
  if (summary !== null && hasEnded) return render({ ...summary, dir }, verdict, style)
  const last = report.timeline.at(-1)
  const figures: Figures = {
    dir,
    pages: report.pages,
    hosts: report.hosts.count,
    bytes: report.bytes,
    seconds: last?.t ?? 0,
    answers: report.answers,
    failed: report.failed,
    failures: countsOf(report.failures),
    skipped: countsOf(report.skips),
    waiting: last?.waiting ?? 0,
  }
  return render(figures, verdict, style)
}

function countsOf({ rows }: TallyRows): Record<string, number> {
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]))
}

function render(figures: Figures, verdict: Verdict, style: SummaryStyle): string {
  const { colour, width, hasReport = true, files = hasReport ? ALL_FILES : [] } = style
  const paint = (style: keyof typeof COLOURS, text: string): string =>
    colour ? `\u001b[${COLOURS[style]}m${text}\u001b[0m` : text
  const columns = Math.max(WIDTH_MIN, width)
  const headlineOf = (text: string): string[] =>
    fold(printable(text), columns).map((line) => paint(verdict.tone, paint('bold', line)))
  const lines: string[] = []
  for (const [name, text] of [...figureRows(figures), ...fileRows(figures.dir, { hasReport, files })]) {
    const [first = '', ...rest] = fold(printable(text), columns - NAME_COLUMNS - 2)
    lines.push(`  ${paint('dim', name.padEnd(NAME_COLUMNS))}${first}`)
    for (const line of rest) lines.push(`  ${' '.repeat(NAME_COLUMNS)}${line}`)
  }
  // Nothing came of it, and there is nothing to go on with: the reasons stand last, where the eye is.
  if (figures.pages === 0 && verdict.command === null && hasReasons(figures)) {
    return `${[...lines, '', ...headlineOf(`${verdict.headline}:`)].join('\n')}\n`
  }
  lines.unshift(...headlineOf(verdict.headline))
  // Without a command it says where to look, and the rows have said that.
  if (verdict.command !== null) {
    lines.push('', ...fold(verdict.advice, columns))
    // Never folded: it is there to be copied.
    lines.push(`  ${paint('bold', printable(verdict.command))}`)
  }
  return `${lines.join('\n')}\n`
}

/** Whether the files say of some URL why it yielded no page. */
function hasReasons({ failed, skipped }: Figures): boolean {
  return failed > 0 || totalOf(skipped) > 0
}

function figureRows(figures: Figures): Row[] {
  const { pages, hosts, bytes, seconds, answers, failed, skipped, waiting, archive } = figures
  const rate = `${formatSpan(seconds * 1_000)}, ${formatRate(seconds > 0 ? pages / seconds : 0)} pages/s`
  const rows: Row[] = [
    ['pages', `${formatCount(pages)} from ${formatNumberOf(hosts, 'host')}, ${formatBytes(bytes)}`],
    ['time', pages > 0 && seconds > 0 ? rate : formatSpan(seconds * 1_000)],
  ]
  if (totalOf(answers) > answers['2xx']) rows.push(['answers', answersText(answers)])
  if (failed > 0) rows.push(['failed', reasonsText(failed, figures.failures)])
  const skippedTotal = totalOf(skipped)
  if (skippedTotal > 0) rows.push(['skipped', reasonsText(skippedTotal, skipped)])
  if (waiting > 0) rows.push(['waiting', formatCount(waiting)])
  if (archive !== undefined && archive.to !== null) rows.push(['archive', archiveText(archive)])
  return rows
}

function fileRows(dir: string, { hasReport, files }: Outputs): Row[] {
  const rows: Row[] = []
  if (hasReport) rows.push(['report', join(dir, 'report.html')])
  const [first, ...others] = files
  if (first !== undefined) rows.push(['files', [join(dir, first), ...others].join(', ')])
  return rows
}

function totalOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function answersText(answers: Answers): string {
  const parts: readonly (readonly [count: number, text: string])[] = [
    [answers['2xx'], `${formatCount(answers['2xx'])} ok`],
    [answers.unchanged ?? 0, `${formatCount(answers.unchanged ?? 0)} unchanged`],
    [answers['3xx'], formatNumberOf(answers['3xx'], 'redirect')],
    [answers['4xx'], formatNumberOf(answers['4xx'], 'client error')],
    [answers['5xx'], formatNumberOf(answers['5xx'], 'server error')],
    [answers.other, formatNumberOf(answers.other, 'other')],
  ]
  return parts
    .filter(([count]) => count > 0)
    .map(([, text]) => text.replaceAll(' ', '\u00a0'))
    .join(', ')
}

/** '52: FETCH_TLS_FAILED 50, DNS_NO_NAME 2'; the total alone where the reasons are not known. */
function reasonsText(total: number, counts: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, count]) => `${reason}\u00a0${formatCount(count)}`)
  return reasons.length === 0 ? formatCount(total) : `${formatCount(total)}: ${reasons.join(', ')}`
}

/** Lines of at most `width`, broken at spaces but not at hard ones; a longer word stays whole, for paths are copied. */
function fold(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line].map((line) => line.replaceAll('\u00a0', ' '))
}
