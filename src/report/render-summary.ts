// The end of a crawl on the terminal: a few aligned lines, and what to do next.

import { join } from 'node:path'
import { formatBytes } from '../base/index.ts'
import type { CrawlSummary } from './crawl-summary.ts'
import { formatCount, formatNumberOf, formatRate, formatSpan } from './figures.ts'
import { printable } from './printable.ts'
import { verdictOf } from './verdict.ts'

export interface SummaryStyle {
  readonly colour: boolean
  /** Columns of the terminal; lines are folded to it. */
  readonly width: number
}

const NAME_COLUMNS = 10
const WIDTH_MIN = 40
const COLOURS = { good: '32', warn: '33', bad: '31', dim: '2', bold: '1' } as const

/** Ends with a line end. Everything in it that may come from the web is printable. */
export function renderSummary(summary: CrawlSummary, { colour, width }: SummaryStyle): string {
  const paint = (style: keyof typeof COLOURS, text: string): string =>
    colour ? `\u001b[${COLOURS[style]}m${text}\u001b[0m` : text
  const columns = Math.max(WIDTH_MIN, width)
  const { pages, failed, bytes, seconds, hosts, waiting, dir } = summary
  const skipped = Object.entries(summary.skipped).filter(([, count]) => count > 0)
  const skippedTotal = skipped.reduce((sum, [, count]) => sum + count, 0)
  const verdict = verdictOf(summary, dir)

  const rows: [name: string, text: string][] = [
    ['pages', `${formatCount(pages)} from ${formatNumberOf(hosts, 'host')}, ${formatBytes(bytes)}`],
    ['time', seconds > 0 ? `${formatSpan(seconds * 1_000)}, ${formatRate(pages / seconds)} pages/s` : formatSpan(0)],
  ]
  if (failed > 0) rows.push(['failed', formatCount(failed)])
  if (skippedTotal > 0) {
    const reasons = skipped.sort((a, b) => b[1] - a[1]).map(([reason, count]) => `${reason}\u00a0${formatCount(count)}`)
    rows.push(['skipped', `${formatCount(skippedTotal)}: ${reasons.join(', ')}`])
  }
  if (waiting > 0) rows.push(['waiting', formatCount(waiting)])
  rows.push(['report', join(dir, 'report.html')])
  rows.push(['files', `${join(dir, 'pages.jsonl')}, failures.jsonl, archive/`])

  const lines = fold(printable(verdict.headline), columns).map((line) => paint(verdict.tone, paint('bold', line)))
  for (const [name, text] of rows) {
    const [first = '', ...rest] = fold(printable(text), columns - NAME_COLUMNS - 2)
    lines.push(`  ${paint('dim', name.padEnd(NAME_COLUMNS))}${first}`)
    for (const line of rest) lines.push(`  ${' '.repeat(NAME_COLUMNS)}${line}`)
  }
  if (verdict.advice !== '') lines.push('', ...fold(verdict.advice, columns))
  // Never folded: it is there to be copied.
  if (verdict.command !== null) lines.push(`  ${paint('bold', printable(verdict.command))}`)
  return `${lines.join('\n')}\n`
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
