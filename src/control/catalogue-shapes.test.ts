// What a catalogue answers is what the API promises: told by the type checker, and by the schemas for one answer of each kind.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, expectTypeOf, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { type CatalogueDesk, openCatalogue } from '../catalogue/index.ts'
import { type AnswerOf, hostDetailSchema, ROUTES } from './api.ts'
import type { Asked } from './crawl-source.ts'

type Answer<N extends keyof CatalogueDesk> = CatalogueDesk[N] extends (...args: never[]) => infer P ? Awaited<P> : never
type Question<N extends keyof CatalogueDesk> = CatalogueDesk[N] extends (query: infer Q) => unknown ? Q : never

/** Known of a crawl that runs only: the source that has it adds it. */
const OF_A_RUN = { waiting: null, state: null, restUntil: null }

test('answers of the catalogue are answers of the API', async () => {
  expectTypeOf<Answer<'pages'>>().toExtend<AnswerOf<'pages'>>()
  expectTypeOf<Answer<'failures'>>().toExtend<AnswerOf<'failures'>>()
  expectTypeOf<Answer<'broken'>>().toExtend<AnswerOf<'broken'>>()
  expectTypeOf<Answer<'statistics'>>().toExtend<AnswerOf<'statistics'>>()
  expectTypeOf<Answer<'hosts'>['items'][number] & typeof OF_A_RUN>().toExtend<AnswerOf<'hosts'>['items'][number]>()
  expectTypeOf<Asked<'pages'>>().toExtend<Question<'pages'>>()
  expectTypeOf<Asked<'failures'>>().toExtend<Question<'failures'>>()
  expectTypeOf<Asked<'broken'>>().toExtend<Question<'broken'>>()
  expectTypeOf<Exclude<Asked<'hosts'>['sort'], 'waiting'>>().toExtend<Question<'hosts'>['sort']>()

  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  const at = '2026-01-01T00:00:00.000Z'
  const url = 'http://a.example/'
  const page = {
    url,
    status: 404,
    type: null,
    bytes: 1,
    wireBytes: 1,
    depth: 0,
    via: null,
    fetchedAt: at,
    firstByteMs: 1.5,
    durationMs: 2.5,
  }
  writeFileSync(join(dir, 'pages.jsonl'), `${JSON.stringify(page)}\n`)
  const failure = { url: `${url}x`, kind: 'failed', reason: 'timeout', detail: '', depth: 1, via: url, at }
  writeFileSync(join(dir, 'failures.jsonl'), `${JSON.stringify(failure)}\n`)
  const desk = await openCatalogue(dir)
  onTestFinished(() => desk.close())
  while ((await desk.advance(1_000)) < 1);
  expect(ROUTES.pages.answer.parse(await desk.pages({}))).toMatchObject({ total: 1, readShare: 1 })
  expect(ROUTES.failures.answer.parse(await desk.failures({}))).toMatchObject({ total: 1 })
  expect(ROUTES.broken.answer.parse(await desk.broken({}))).toMatchObject({ total: 2 })
  expect(ROUTES.statistics.answer.parse(await desk.statistics())).toMatchObject({ statuses: { 404: 1 } })
  const { items } = await desk.hosts({})
  expect(items).toHaveLength(1)
  const rest = { address: null, restMs: null, restBecause: [], robots: null, budgetLeft: null }
  const detail = hostDetailSchema.parse({ ...(await desk.host('a.example')), ...OF_A_RUN, ...rest })
  expect(detail).toMatchObject({ pages: 1, errors: 2, statuses: { 404: 1 }, failures: { timeout: 1 } })
  await expect(desk.pages({ after: 'x' })).rejects.toThrow(/no place/)
})
