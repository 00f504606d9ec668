// Is what a crawl left behind what a crawl without kills leaves behind? Pages, failures, figures, copies and archive.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FailureRecord, PageRecord } from '../../src/store/index.ts'
import { sharesOf } from '../../src/view/index.ts'
import type { TestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'

/** The part of crawl.json that counts. */
interface Summary {
  readonly pages: number
  readonly failed: number
  readonly skipped: Readonly<Record<string, number>>
  readonly failures: Readonly<Record<string, number>>
  readonly bytes: number
  readonly urlsSeen: number
  readonly waiting: number
}

export interface ResultVerdict {
  readonly problems: readonly string[]
  readonly pages: number
  readonly waiting: number
  readonly originalsTwice: number
}

/** `maxPages` is null for a crawl to the end. */
export async function judgeResult(web: TestWeb, dir: string, maxPages: number | null): Promise<ResultVerdict> {
  const problems: string[] = []
  const complain = (what: string): void => void problems.push(what)
  const pages = linesOf<PageRecord>(join(dir, 'pages.jsonl'))
  const failures = linesOf<FailureRecord>(join(dir, 'failures.jsonl'))
  const summary = JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')) as Summary
  const verdicts = [...pages, ...failures].map(({ url }) => url)
  if (new Set(verdicts).size !== verdicts.length) complain('a URL has two verdicts')
  if (maxPages === null) judgeWhole(web, pages, failures, complain)
  else judgePart(web, pages, maxPages, complain)
  judgeFigures(summary, pages, failures, complain)
  const shares = await sharesOf(dir)
  const originalsTwice = judgeCopies(pages, shares.length, complain)
  if (shares.length > 1) {
    for (const name of ['pages.jsonl', 'failures.jsonl']) judgeMerged(dir, shares, name, complain)
  }
  for (const problem of checkArchive(dir).problems) complain(problem)
  return { problems, pages: pages.length, waiting: summary.waiting, originalsTwice }
}

/** The file of all agents has every line of each once, and those of one agent in its order. */
function judgeMerged(dir: string, shares: readonly string[], name: string, complain: (what: string) => void): void {
  const merged = textLinesOf(join(dir, name))
  const places = new Map(merged.map((line, i) => [line, i]))
  let lines = 0
  for (const share of shares) {
    let before = -1
    for (const line of textLinesOf(join(share, name))) {
      const place = places.get(line) ?? -1
      if (place <= before)
        complain(`${name}: ${place === -1 ? 'lacks' : 'has out of order'} a line of ${share}: ${line}`)
      before = place
      lines++
    }
  }
  if (merged.length !== lines) complain(`${name} has ${merged.length} lines, the agents have ${lines}`)
}

function judgeWhole(
  web: TestWeb,
  pages: readonly PageRecord[],
  failures: readonly FailureRecord[],
  complain: (what: string) => void,
): void {
  const truth = web.truth()
  compare(
    'pages',
    pages.map(({ url, status }) => `${url} ${status}`),
    [...truth.pages].map(([url, { status }]) => `${url} ${status}`),
    complain,
  )
  compare(
    'failures',
    failures.map(({ url, reason }) => `${url} ${reason}`),
    [...truth.skipped, ...truth.failed].map(([url, reason]) => `${url} ${reason}`),
    complain,
  )
}

/** Exactly as many pages as were allowed, each of them as the web has it. */
function judgePart(
  web: TestWeb,
  pages: readonly PageRecord[],
  maxPages: number,
  complain: (what: string) => void,
): void {
  if (pages.length !== maxPages) complain(`${pages.length} pages, where --max-pages is ${maxPages}`)
  for (const { url, status } of pages) {
    const answer = web.web.answerUrl(url)
    if (answer?.status !== status) complain(`${url} has ${status}, in truth ${answer?.status}`)
  }
}

function judgeFigures(
  summary: Summary,
  pages: readonly PageRecord[],
  failures: readonly FailureRecord[],
  complain: (what: string) => void,
): void {
  const counted = (kind: FailureRecord['kind']): Record<string, number> => {
    const reasons: Record<string, number> = {}
    for (const record of failures) {
      if (record.kind === kind) reasons[record.reason] = (reasons[record.reason] ?? 0) + 1
    }
    return reasons
  }
  const sum = (counts: Readonly<Record<string, number>>): number => Object.values(counts).reduce((a, b) => a + b, 0)
  const agree = (what: string, said: unknown, is: unknown): void => {
    if (text(said) !== text(is)) complain(`crawl.json: ${what} is ${text(said)}, the files have ${text(is)}`)
  }
  agree('pages', summary.pages, pages.length)
  agree(
    'bytes',
    summary.bytes,
    pages.reduce((total, { bytes }) => total + bytes, 0),
  )
  agree('skipped', summary.skipped, counted('skipped'))
  agree('failures', summary.failures, counted('failed'))
  agree('failed', summary.failed, sum(counted('failed')))
  agree('urlsSeen', summary.urlsSeen, pages.length + failures.length + summary.waiting)
}

/**
 * Of the pages with one content exactly one is the original, and the others name it. Among several agents a claim can die with
 * whoever held or granted it, and then two are taken for the first; returns how many are too many.
 */
function judgeCopies(pages: readonly PageRecord[], agents: number, complain: (what: string) => void): number {
  const takesPart = ({ status, bytes, truncated }: PageRecord): boolean =>
    status >= 200 && status < 300 && bytes > 0 && truncated === undefined
  let tooMany = 0
  for (const group of Map.groupBy(pages.filter(takesPart), ({ digest }) => digest).values()) {
    const originals = new Set(group.filter(({ duplicateOf }) => duplicateOf === undefined).map(({ url }) => url))
    if (originals.size === 0 || (originals.size > 1 && agents === 1)) {
      complain(`${originals.size} originals of one content: ${group[0]?.url}`)
    }
    tooMany += Math.max(0, originals.size - 1)
    for (const { url, duplicateOf } of group) {
      if (duplicateOf !== undefined && !originals.has(duplicateOf)) complain(`${url} is a copy of ${duplicateOf}?`)
    }
  }
  return tooMany
}

function compare(
  what: string,
  found: readonly string[],
  expected: readonly string[],
  complain: (what: string) => void,
): void {
  const [is, should] = [new Set(found), new Set(expected)]
  const missing = expected.filter((one) => !is.has(one))
  const added = found.filter((one) => !should.has(one))
  if (missing.length > 0) complain(`${missing.length} ${what} are missing, ${missing[0]} for one`)
  if (added.length > 0) complain(`${added.length} ${what} are too many, ${added[0]} for one`)
}

/** Objects as text, with their fields in one order. */
function text(value: unknown): string {
  return typeof value === 'object' && value !== null
    ? JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : String(value)
}

function linesOf<T>(path: string): T[] {
  return textLinesOf(path).map((line) => JSON.parse(line) as T)
}

function textLinesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}
