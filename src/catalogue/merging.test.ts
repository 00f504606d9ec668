// Segments are merged in small transactions: whoever asks in between is answered, at once and rightly, and a merge that ends in the
// middle costs nothing but its work.

import { appendFileSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { systemClock } from '../base/index.ts'
import { Catalogue } from './catalogue.ts'

/** One more than are merged at once. */
const ROUNDS = 9

function line(number: number, title: string): string {
  const url = `http://host${number % 7}.example/${number}`
  const status = number % 5 === 0 ? 404 : 200
  return `${JSON.stringify({ url, status, type: 'text/html', bytes: 1, wireBytes: 1, depth: 1, firstByteMs: 1, durationMs: 1, title })}\n`
}

class Crawl {
  readonly dir = temporaryDirectory(onTestFinished)
  readonly path = join(this.dir, 'state/catalogue.sqlite')
  pages = 0

  constructor() {
    mkdirSync(join(this.dir, 'state'))
  }

  /** Words that no other page has, and one that all have. */
  add(lines: number, words = 0): void {
    let text = ''
    for (let i = 0; i < lines; i++, this.pages++) {
      const own = Array.from({ length: words }, (_, word) => `own${this.pages}x${word}`)
      text += line(this.pages, ['all', `page${this.pages}`, ...own].join(' '))
    }
    appendFileSync(join(this.dir, 'pages.jsonl'), text)
  }

  async open(): Promise<Catalogue> {
    const catalogue = await Catalogue.open({ dir: this.dir, clock: systemClock })
    onTestFinished(() => catalogue.close())
    return catalogue
  }

  /** As many segments as are due to be merged. */
  async inSegments(lines: number, words = 0): Promise<Catalogue> {
    const catalogue = await this.open()
    for (let round = 0; round < ROUNDS; round++) {
      this.add(lines, words)
      await readAll(catalogue)
    }
    expect(this.segments().noted).toBe(ROUNDS)
    return catalogue
  }

  /** How many are noted, and how many have chunks. */
  segments(): { noted: number; there: number } {
    const database = new DatabaseSync(this.path, { readOnly: true })
    const count = (from: string): number =>
      (database.prepare(`SELECT count(*) AS n FROM ${from}`).get() as { n: number }).n
    const found = { noted: count('segments'), there: count('(SELECT DISTINCT segment FROM postings)') }
    database.close()
    return found
  }

  check(catalogue: Catalogue): void {
    const all = catalogue.pages({ text: 'all', limit: 3 })
    expect(all.items.map(({ url }) => url)).toEqual(
      [1, 2, 3].map((back) => `http://host${(this.pages - back) % 7}.example/${this.pages - back}`),
    )
    expect(catalogue.pages({}).total).toBe(this.pages)
    expect(catalogue.pages({ status: 404 }).total).toBe(Math.ceil(this.pages / 5))
    for (const number of [0, this.pages >> 1, this.pages - 1]) {
      expect(catalogue.pages({ text: `page${number} all` }).items.map(({ url }) => url)).toEqual([
        `http://host${number % 7}.example/${number}`,
      ])
    }
  }
}

async function readAll(catalogue: Catalogue): Promise<void> {
  while (!(await catalogue.advance(1_000, true)));
}

/** One step of what is done while nobody waits; true at the end. */
const step = (catalogue: Catalogue): Promise<boolean> => catalogue.advance(0)

test('no transaction of a merge is large, and every question between two of them is answered rightly', async () => {
  const crawl = new Crawl()
  const catalogue = await crawl.inSegments(700, 30)
  let steps = 0
  while (!(await step(catalogue))) if (++steps % 25 === 0) crawl.check(catalogue)
  crawl.check(catalogue)
  expect(steps).toBeGreaterThan(300)
  expect(crawl.segments()).toEqual({ noted: 2, there: 2 })
  // What waits to be brought into the file, and one transaction: what a question may have to wait for.
  const waiting = existsSync(`${crawl.path}-wal`) ? statSync(`${crawl.path}-wal`).size : 0
  expect(statSync(crawl.path).size).toBeGreaterThan(11 * 2 ** 20)
  expect(waiting).toBeLessThan(7 * 2 ** 20)
})

test('a merge that ends in the middle is begun anew, and leaves nothing behind', async () => {
  const crawl = new Crawl()
  let catalogue = await crawl.inSegments(60, 30)
  for (const stepsDone of [1, 3, 10, 30, 45, 52, 60]) {
    for (let i = 0; i < stepsDone; i++) await step(catalogue)
    catalogue.close()
    catalogue = await crawl.open()
    crawl.check(catalogue)
  }
  while (!(await step(catalogue)));
  crawl.check(catalogue)
  const { noted, there } = crawl.segments()
  expect([noted <= 2, there]).toEqual([true, noted])
})

test('lines that were read while a merge goes on are not taken for written', async () => {
  const crawl = new Crawl()
  const first = await crawl.inSegments(60, 10)
  await step(first)
  crawl.add(5)
  while (first.heldLines === 0) await first.advance(0, true)
  for (let i = 0; i < 8; i++) await step(first)
  expect(first.heldLines).toBe(5)
  first.close()
  const again = await crawl.open()
  await readAll(again)
  crawl.check(again)
})

test('of two that keep the same catalogue one merges, and nothing is lost', async () => {
  const crawl = new Crawl()
  const one = await crawl.inSegments(60, 10)
  const other = await crawl.open()
  for (let i = 0; i < 40; i++) for (const catalogue of [one, other]) await step(catalogue)
  for (const catalogue of [one, other]) {
    await readAll(catalogue)
    crawl.check(catalogue)
  }
  expect(one.rebuilds + other.rebuilds).toBe(0)
})

test('words that no other page has fill the room in memory sooner', async () => {
  const crawl = new Crawl()
  crawl.add(9_000, 30)
  const catalogue = await crawl.open()
  let held = 0
  for (let isDone = false; !isDone;) {
    isDone = await catalogue.advance(0, true)
    held = Math.max(held, catalogue.heldLines)
  }
  expect(held).toBeGreaterThan(2_000)
  expect(held).toBeLessThan(5_000)
  crawl.check(catalogue)
})
