// Notes found by URL: the last one of each, whatever was noted in which order, as a plain map has it.

import { appendFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import type { ReturnNote } from './records.ts'
import { ReturnedPages } from './returned-pages.ts'

function place(): { path: string; folder: string } {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-returns-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return { path: join(dir, 'returns.jsonl'), folder: join(dir, 'returned') }
}

function note(url: string, visit: number): ReturnNote {
  return { url, visit, status: 200, bytes: 1, wireBytes: 1, depth: 0, via: null, capture: null }
}

function lines(notes: readonly ReturnNote[]): string {
  return notes.map((one) => `${JSON.stringify(one)}\n`).join('')
}

async function opened(path: string, folder: string, length?: number): Promise<ReturnedPages> {
  const returned = await ReturnedPages.open(path, folder, length)
  if (returned === null) throw new Error('nothing was noted')
  onTestFinished(() => returned.close())
  return returned
}

test('nobody returned, nothing is known', async () => {
  const { path, folder } = place()
  expect(await ReturnedPages.open(path, folder)).toBeNull()
  writeFileSync(path, '')
  expect(await ReturnedPages.open(path, folder)).toBeNull()
})

test('the last note of every URL is found, and of no other', async () => {
  const url = fc.nat(400).map((n) => `http://a.test/${n}${'é'.repeat(n % 3)}`)
  const { path, folder } = place()
  await fc.assert(
    fc.asyncProperty(
      fc.array(url, { minLength: 1, maxLength: 600, size: 'max' }),
      fc.array(url),
      async (noted, asked) => {
        const visits = new Map<string, number>()
        const notes = noted.map((one) => {
          visits.set(one, (visits.get(one) ?? 0) + 1)
          return note(one, visits.get(one) ?? 0)
        })
        writeFileSync(path, lines(notes))
        rmSync(folder, { recursive: true, force: true })
        const returned = await ReturnedPages.open(path, folder)
        for (const one of [...noted, ...asked]) {
          const visit = visits.get(one)
          expect(returned?.find(one)?.visit).toBe(visit)
          expect(returned?.isTakenBack({ url: one })).toBe(visit !== undefined)
          expect(returned?.isTakenBack({ url: one, visit: (visit ?? 0) + 1 })).toBe(false)
        }
        returned?.close()
      },
    ),
    { numRuns: 12 },
  )
})

test('more notes than one look holds, and longer than one read', async () => {
  const { path, folder } = place()
  const urls = Array.from({ length: 3_000 }, (_, i) => `http://a.test/${i}/${'x'.repeat(i % 500 === 0 ? 9_000 : 9)}`)
  writeFileSync(path, lines(urls.map((url) => note(url, 1))))
  const returned = await opened(path, folder)
  for (const url of urls) expect(returned.find(url)?.url).toBe(url)
  expect(returned.find('http://a.test/3000')).toBeNull()
})

test('an index is used again while nothing was noted, and made anew when something was', async () => {
  const { path, folder } = place()
  writeFileSync(path, lines([note('http://a.test/', 1)]))
  await opened(path, folder)
  const [name = ''] = readdirSync(folder)
  const madeMs = statSync(join(folder, name)).mtimeMs
  await opened(path, folder)
  expect(statSync(join(folder, name)).mtimeMs).toBe(madeMs)
  const length = statSync(path).size
  appendFileSync(path, lines([note('http://a.test/', 2)]))
  expect((await opened(path, folder)).find('http://a.test/')?.visit).toBe(2)
  expect(readdirSync(folder)).toHaveLength(1)
  // Only what counts.
  expect((await opened(path, folder, length)).find('http://a.test/')?.visit).toBe(1)
})
