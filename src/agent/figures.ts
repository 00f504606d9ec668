// What a crawl has done, in numbers: the same names in progress, summary, report and API.

import type { FailureCode, RefusalReason, SkipReason } from '../base/index.ts'
import type { Verdict } from './verdict.ts'

const ANSWER_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'other'] as const
export type AnswerClass = (typeof ANSWER_CLASSES)[number]

/** Pages by class of status; those that are as they were (304), which no redirect is, apart from 3xx where there are any. */
export type AnswerCounts = Record<AnswerClass, number> & { unchanged?: number }

const CLASS_OF_HUNDREDS: readonly (AnswerClass | undefined)[] = [undefined, undefined, '2xx', '3xx', '4xx', '5xx']

function answerClassOf(status: number): keyof AnswerCounts {
  if (status === 304) return 'unchanged'
  // Named by a table, not put together: a text made anew has to be looked up among all names.
  return CLASS_OF_HUNDREDS[Math.floor(status / 100)] ?? 'other'
}

/** Everything counted, as plain data for the ledger; time, CPU and memory with the present run's. */
export type CrawlTotals = Pick<
  CrawlFigures,
  'admitted' | 'pages' | 'failed' | 'failures' | 'answers' | 'bytes' | 'wireBytes' | 'skipped' | 'refused'
> & { readonly hosts: number; readonly ms: number; readonly cpuMs: number; readonly peakRssBytes: number }

/** What one run has taken so far. */
export interface Spent {
  readonly ms: number
  readonly cpuMs: number
  readonly peakRssBytes: number
}

/** What several agents have come to together. They run side by side: their time is not added up. */
export function sumTotals(all: readonly CrawlTotals[]): CrawlTotals {
  const sum = CrawlFigures.from(null)
  let hosts = 0
  for (const totals of all) {
    hosts += totals.hosts
    sum.admitted += totals.admitted
    sum.pages += totals.pages
    sum.failed += totals.failed
    sum.bytes += totals.bytes
    sum.wireBytes += totals.wireBytes
    addCounts(sum.failures, totals.failures)
    addCounts(sum.answers, totals.answers)
    addCounts(sum.skipped, totals.skipped)
    addCounts(sum.refused, totals.refused)
  }
  return sum.totals(hosts, {
    ms: Math.max(0, ...all.map(({ ms }) => ms)),
    cpuMs: all.reduce((sumMs, { cpuMs }) => sumMs + cpuMs, 0),
    peakRssBytes: Math.max(0, ...all.map(({ peakRssBytes }) => peakRssBytes)),
  })
}

/** What is left of a sum when others have these parts of it. */
export function remainingTotals(sum: CrawlTotals, parts: readonly CrawlTotals[]): CrawlTotals {
  const figures = CrawlFigures.from(sum)
  let { hosts } = sum
  for (const part of parts) {
    hosts -= part.hosts
    figures.admitted -= part.admitted
    figures.pages -= part.pages
    figures.failed -= part.failed
    figures.bytes -= part.bytes
    figures.wireBytes -= part.wireBytes
    for (const name of ANSWER_CLASSES) figures.answers[name] -= part.answers[name]
    addAnswers(figures.answers, 'unchanged', -(part.answers.unchanged ?? 0))
    takeCounts(figures.failures, part.failures)
    takeCounts(figures.skipped, part.skipped)
    takeCounts(figures.refused, part.refused)
  }
  return figures.totals(hosts, { ms: 0, cpuMs: 0, peakRssBytes: 0 })
}

function addAnswers(answers: AnswerCounts, name: keyof AnswerCounts, count: number): void {
  const sum = (answers[name] ?? 0) + count
  answers[name] = sum
  if (sum === 0 && name === 'unchanged') delete answers.unchanged
}

function takeCounts(sum: Partial<Record<string, number>>, less: Partial<Record<string, number>>): void {
  for (const [name, count] of Object.entries(less)) {
    sum[name] = (sum[name] ?? 0) - (count ?? 0)
    if (sum[name] === 0) delete sum[name]
  }
}

function addCounts(sum: Partial<Record<string, number>>, more: Partial<Record<string, number>>): void {
  for (const [name, count] of Object.entries(more)) sum[name] = (sum[name] ?? 0) + (count ?? 0)
}

export class CrawlFigures {
  /** URLs admitted: those that are settled and those that wait. */
  admitted = 0
  pages = 0
  failed = 0
  readonly failures: Partial<Record<FailureCode, number>> = {}
  readonly answers: AnswerCounts = { '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0, other: 0 }
  /** Decoded and received bytes of pages. */
  bytes = 0
  wireBytes = 0
  readonly skipped: Partial<Record<SkipReason, number>> = {}
  readonly refused: Partial<Record<RefusalReason, number>> = {}
  /** Milliseconds of crawling and CPU in earlier runs of this crawl, and the most memory one of them took. */
  earlierMs = 0
  earlierCpuMs = 0
  earlierPeakRssBytes = 0

  count(verdict: Verdict): void {
    this.#add(verdict, 1)
  }

  /** Takes back what count() counted. */
  uncount(verdict: Verdict): void {
    this.#add(verdict, -1)
  }

  #add(verdict: Verdict, sign: 1 | -1): void {
    switch (verdict.kind) {
      case 'page':
        this.pages += sign
        this.bytes += sign * verdict.bytes
        this.wireBytes += sign * verdict.wireBytes
        addAnswers(this.answers, answerClassOf(verdict.status), sign)
        return
      case 'failed':
        this.failed += sign
        this.failures[verdict.code] = (this.failures[verdict.code] ?? 0) + sign
        if (this.failures[verdict.code] === 0) delete this.failures[verdict.code]
        return
      case 'skipped':
        this.skipped[verdict.reason] = (this.skipped[verdict.reason] ?? 0) + sign
        if (this.skipped[verdict.reason] === 0) delete this.skipped[verdict.reason]
    }
  }

  refuse(reason: RefusalReason, count = 1): void {
    this.refused[reason] = (this.refused[reason] ?? 0) + count
  }

  /** URLs that are done with, one way or another. */
  get settled(): number {
    let skipped = 0
    for (const count of Object.values(this.skipped)) skipped += count
    return this.pages + this.failed + skipped
  }

  /** URLs that were met and have no verdict. */
  get waiting(): number {
    return this.admitted - this.settled
  }

  /** All of it, as it is written with every batch. */
  totals(hosts: number, spent: Spent): CrawlTotals {
    const { admitted, pages, failed, bytes, wireBytes } = this
    return {
      admitted,
      pages,
      failed,
      failures: { ...this.failures },
      answers: { ...this.answers },
      bytes,
      wireBytes,
      skipped: { ...this.skipped },
      refused: { ...this.refused },
      hosts,
      ms: this.earlierMs + spent.ms,
      cpuMs: this.earlierCpuMs + spent.cpuMs,
      peakRssBytes: Math.max(this.earlierPeakRssBytes, spent.peakRssBytes),
    }
  }

  /** Goes on from what an earlier run wrote. */
  static from(totals: CrawlTotals | null): CrawlFigures {
    const figures = new CrawlFigures()
    if (totals === null) return figures
    const { hosts: _, ms, cpuMs, peakRssBytes, failures, answers, skipped, refused, ...counts } = totals
    Object.assign(figures, counts)
    Object.assign(figures.failures, failures)
    Object.assign(figures.answers, answers)
    Object.assign(figures.skipped, skipped)
    Object.assign(figures.refused, refused)
    figures.earlierMs = ms
    figures.earlierCpuMs = cpuMs
    figures.earlierPeakRssBytes = peakRssBytes
    return figures
  }
}
