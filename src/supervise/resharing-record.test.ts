// Whatever a change of the number of agents leaves behind, only what the layout does not name is removed.

import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { beginResharing, endResharing } from './resharing-record.ts'

const OLD = ['state/agents/0', 'state/agents/1']
const NEW = ['state/agents/2-0']

/** A directory with files of these names. */
function crawlWith(...files: readonly string[]): string {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-resharing-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  for (const file of files) {
    mkdirSync(join(dir, file, '..'), { recursive: true })
    writeFileSync(join(dir, file), file)
  }
  return dir
}

const shares = [...OLD, ...NEW].map((name) => `${name}/pages.jsonl`)

test('where nothing was begun nothing is removed', async () => {
  const dir = crawlWith(...shares)
  await endResharing(dir, OLD)
  expect(readdirSync(join(dir, 'state/agents'))).toEqual(['0', '1', '2-0'])
})

test.for([
  ['the old ones', OLD, ['0', '1']],
  ['the new ones', NEW, ['2-0']],
] as const)('the layout names %s: the others go', async ([, layout, left]) => {
  const dir = crawlWith(...shares)
  await beginResharing(dir, { from: OLD, to: NEW })
  await endResharing(dir, layout)
  expect(readdirSync(join(dir, 'state/agents'))).toEqual(left)
  expect(existsSync(join(dir, 'state/resharing.json'))).toBe(false)
  await endResharing(dir, layout)
})

test('of a crawl that had one agent what it kept in state/ goes, and nothing that others read or wrote', async () => {
  const own = ['journal/a.log', 'frontier/CURRENT', 'seen/b.run', 'contents/c.run', 'seeds.jsonl', 'failures-3.jsonl']
  const kept = ['pages.jsonl', 'failures.jsonl', 'archive/x.warc.gz', 'state/timeline.jsonl', 'state/damaged-1/x.log']
  const dir = crawlWith(...kept, ...shares, ...own.map((name) => `state/${name}`))
  await beginResharing(dir, { from: null, to: NEW })
  await endResharing(dir, NEW)
  for (const file of kept) expect(readFileSync(join(dir, file), 'utf8')).toBe(file)
  expect(readdirSync(join(dir, 'state')).sort()).toEqual(['agents', 'damaged-1', 'timeline.jsonl'])
})

test('what a repair had put aside in a share stays', async () => {
  const dir = crawlWith(...shares, 'state/agents/1/state/damaged-2026/pages.jsonl.from-7')
  await beginResharing(dir, { from: OLD, to: NEW })
  await endResharing(dir, NEW)
  expect(existsSync(join(dir, 'state/damaged-2026-of-1/pages.jsonl.from-7'))).toBe(true)
})

test.for(['{', '{"format":1,"from":null,"to":["../.."]}', '{"format":1,"from":null}', '{"format":2}', 'null'])(
  'a record that makes no sense is refused, and nothing is removed: %s',
  async (text) => {
    const dir = crawlWith(...shares)
    writeFileSync(join(dir, 'state/resharing.json'), text)
    await expect(endResharing(dir, OLD)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect(readdirSync(join(dir, 'state/agents'))).toEqual(['0', '1', '2-0'])
  },
)
