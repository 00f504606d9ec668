// Changed options are remembered once all that follows from them is done: a crash before must find them changed again.

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { lookAtJournal } from '../../src/ledger/index.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { crawl, FAST, temporaryDirectory } from './run-crawl.ts'

test('the batch that lets skipped URLs wait again still tells the former limit', async () => {
  const web = await startTestWeb({ hosts: 2, pages: 20 })
  onTestFinished(() => web.stop())
  const dir = temporaryDirectory(onTestFinished)
  const run = (flags: Record<string, string>): Promise<unknown> =>
    crawl({ seeds: web.seeds(), dir, flags: { ...FAST, ...flags } })
  await run({ 'max-pages-per-host': '3' })
  const before = await Array.fromAsync(lookAtJournal(join(dir, 'state/journal')))
  await run({})
  const after = await Array.fromAsync(lookAtJournal(join(dir, 'state/journal'), before.length))
  const limits = after.map(({ batch }) => (batch.files['options'] as { hostPages: number | null }).hostPages)
  const [requeue] = after
  expect(requeue?.batch.admitted.length).toBeGreaterThan(0)
  expect(limits.slice(0, 2)).toEqual([3, null])
  expect(new Set(limits.slice(1))).toEqual(new Set([null]))
})
