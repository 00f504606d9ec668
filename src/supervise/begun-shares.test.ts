// A crawl of several agents begins with all journals or with none, under one key, whenever it was interrupted.

import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Random } from '../base/index.ts'
import { type CrawlIdentity, emptyBatch, lookAtIdentity, SegmentedJournal } from '../ledger/index.ts'
import { missingShares, refuseMissingShares } from '../view/index.ts'
import { beginShares, clearBegunShares } from './begun-shares.ts'

const NAMES = ['state/agents/0', 'state/agents/1', 'state/agents/2']

function directory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-shares-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

function identity(key: string): CrawlIdentity {
  return { name: 'test', key, startedAtMs: 1 }
}

function journalOf(dir: string, agent: number): string {
  return join(dir, NAMES[agent] ?? '', 'state/journal')
}

async function commitIn(dir: string, agent: number): Promise<void> {
  const journal = await SegmentedJournal.open({
    directory: journalOf(dir, agent),
    random: new Random('commit'),
    create: () => identity('none'),
  })
  await journal.commit(emptyBatch())
  await journal.close()
}

async function keysIn(dir: string): Promise<(string | undefined)[]> {
  return await Promise.all(NAMES.map(async (_, agent) => (await lookAtIdentity(journalOf(dir, agent)))?.key))
}

test('all have one key, and a second time the same', async () => {
  const dir = directory()
  expect(await beginShares(dir, NAMES, identity('one'))).toEqual(identity('one'))
  expect(await beginShares(dir, NAMES, identity('two'))).toEqual(identity('one'))
  expect(await keysIn(dir)).toEqual(['one', 'one', 'one'])
  expect(await missingShares(dir, NAMES)).toEqual([])
})

test('interrupted before there was a layout: what was begun is cleared, and all begin with another key', async () => {
  const dir = directory()
  await beginShares(dir, NAMES.slice(0, 2), identity('one'))
  await clearBegunShares(dir)
  expect(existsSync(join(dir, 'state/agents'))).toBe(false)
  await beginShares(dir, NAMES, identity('two'))
  expect(await keysIn(dir)).toEqual(['two', 'two', 'two'])
})

test('shares that have done something are not cleared away: their layout was lost', async () => {
  const dir = directory()
  await beginShares(dir, NAMES, identity('one'))
  await commitIn(dir, 1)
  await expect(clearBegunShares(dir)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  expect(await keysIn(dir)).toEqual(['one', 'one', 'one'])
})

test('a journal that is not there is a loss as soon as any agent has committed, and before that begun again', async () => {
  const dir = directory()
  await beginShares(dir, NAMES, identity('one'))
  rmSync(journalOf(dir, 2), { recursive: true })
  await refuseMissingShares(dir, NAMES)
  await beginShares(dir, NAMES, identity('two'))
  expect(await keysIn(dir)).toEqual(['one', 'one', 'one'])
  await commitIn(dir, 0)
  rmSync(journalOf(dir, 2), { recursive: true })
  expect(await missingShares(dir, NAMES)).toEqual([NAMES[2]])
  await expect(refuseMissingShares(dir, NAMES)).rejects.toMatchObject({
    code: 'LEDGER_CORRUPT',
    message: expect.stringMatching(/state\/agents\/2 is gone: .*checkpoint.*portolan repair/) as string,
  })
})
