// What a crawl remembers of how it was meant: given back as it was, or refused by the name of its file.

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { describeSaid, loadSettings, storeSettings } from './stored-settings.ts'

function directoryWith(text?: string): string {
  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  if (text !== undefined) writeFileSync(join(dir, 'state/settings.json'), text)
  return dir
}

test('what was stored comes back, without what belongs to a run and without secrets', async () => {
  const dir = directoryWith()
  expect(await loadSettings(dir)).toBe(null)
  await storeSettings(dir, {
    url: { scope: 'prefix', maxDepth: null, exclude: [] },
    agent: { maxPages: 5 },
    fetch: { proxy: 'http://me:secret@proxy.test/' },
  })
  const kept = await loadSettings(dir)
  expect(kept).toEqual({
    url: { scope: 'prefix', maxDepth: null, exclude: [] },
    fetch: { proxy: 'http://proxy.test/' },
  })
  expect(describeSaid(kept ?? {})).toBe('scope prefix, maxDepth none, exclude none, proxy http://proxy.test/')
})

test('a login whose password is named by a variable is remembered, one with its password is not', async () => {
  const dir = directoryWith()
  const named = { host: 'a.test', user: 'me', passwordEnv: 'A_PASSWORD' }
  await storeSettings(dir, { fetch: { logins: [named, { host: 'b.test', user: 'me', password: 'secret' }] } })
  expect(await loadSettings(dir)).toEqual({ fetch: { logins: [named] } })
})

test.for([
  ['socks5h://me:secret@127.0.0.1:9050', 'socks5h://127.0.0.1:9050'],
  ['https://me@proxy.test:3128', 'https://proxy.test:3128/'],
  ['socks5://127.0.0.1:9050', 'socks5://127.0.0.1:9050'],
  ['', ''],
] as const)('a crawl through %s does not go on around it', async ([said, proxy]) => {
  const dir = directoryWith()
  await storeSettings(dir, { fetch: { proxy: said } })
  expect(await loadSettings(dir)).toEqual({ fetch: { proxy } })
})

test.for([
  ['{"url": ', 'it is not JSON'],
  ['[]', 'the configuration must be an object of sections'],
  ['{"url": {"scope": "galaxy"}}', "url.scope in it: 'galaxy' is not one of "],
  ['{"url": {"maxDpeth": 3}}', 'url.maxDpeth in it: unknown; did you mean maxDepth?'],
])('%s is damaged: the file is named, and what to do', async ([text, complaint]) => {
  const dir = directoryWith(text)
  const fault = await loadSettings(dir).catch((cause: unknown) => cause)
  expect(fault).toMatchObject({ code: 'LEDGER_CORRUPT' })
  const { message } = fault as Error
  expect(message).toContain(`${join(dir, 'state/settings.json')} is damaged (`)
  expect(message).toContain(complaint)
  expect(message).toMatch(/delete it and give the crawl's options again$/)
})
