// The shares of a crawl are those its layout names; a layout that makes no sense is refused with what to do.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadLayout, sharesOf, writeLayout } from './layout.ts'

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-layout-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'state'))
  return dir
}

test('without a layout the directory itself is the one share', async () => {
  const dir = newDirectory()
  expect(await sharesOf(dir)).toEqual([dir])
  expect(await sharesOf(join(dir, 'not-there'))).toEqual([join(dir, 'not-there')])
  expect(await loadLayout(dir)).toBeNull()
})

test('what is written is read: in this order, in this directory wherever it lies, and nothing else is left', async () => {
  const dir = newDirectory()
  const shares = ['state/agents/0', 'state/agents/10', 'state/agents/2']
  await writeLayout(dir, shares)
  expect(await loadLayout(dir)).toEqual(shares)
  expect(await sharesOf(dir)).toEqual(shares.map((share) => join(dir, share)))
  expect(readdirSync(join(dir, 'state'))).toEqual(['layout.json'])
})

test.for<[what: string, text: string, code: string]>([
  ['torn', '{"format":1,"agen', 'LEDGER_CORRUPT'],
  ['empty', '', 'LEDGER_CORRUPT'],
  ['no object', '7', 'LEDGER_CORRUPT'],
  ['null', 'null', 'LEDGER_CORRUPT'],
  ['of another version', '{"format":2,"cells":[]}', 'LEDGER_VERSION'],
  ['without a format', '{"agents":1,"shares":["state/agents/0"]}', 'LEDGER_CORRUPT'],
  ['without shares', '{"format":1,"agents":2}', 'LEDGER_CORRUPT'],
  ['of nobody', '{"format":1,"agents":0,"shares":[]}', 'LEDGER_CORRUPT'],
  ['one too few', '{"format":1,"agents":2,"shares":["state/agents/0"]}', 'LEDGER_CORRUPT'],
  ['one twice', '{"format":1,"agents":2,"shares":["state/agents/0","state/agents/0"]}', 'LEDGER_CORRUPT'],
  ['one in another', '{"format":1,"agents":2,"shares":["state/agents/0","state/agents/0/1"]}', 'LEDGER_CORRUPT'],
  ['a number', '{"format":1,"agents":1,"shares":[0]}', 'LEDGER_CORRUPT'],
  ['absolute', '{"format":1,"agents":1,"shares":["/etc"]}', 'LEDGER_CORRUPT'],
  ['all of it', '{"format":1,"agents":1,"shares":["."]}', 'LEDGER_CORRUPT'],
  ['outside', '{"format":1,"agents":1,"shares":["state/../../other"]}', 'LEDGER_CORRUPT'],
])('a layout that is %s is refused', async ([, text, code]) => {
  const dir = newDirectory()
  writeFileSync(join(dir, 'state/layout.json'), text)
  await expect(sharesOf(dir)).rejects.toMatchObject({ code, message: expect.stringContaining(dir) as string })
  if (code === 'LEDGER_CORRUPT')
    await expect(sharesOf(dir)).rejects.toThrow('"shares":["state/agents/0","state/agents/1"]')
})

test('a layout that would be refused is not written', async () => {
  const dir = newDirectory()
  await expect(writeLayout(dir, ['../elsewhere'])).rejects.toMatchObject({ code: 'ASSERTION' })
  expect(readdirSync(join(dir, 'state'))).toEqual([])
})
