// Files of this machine: what is named is read, and nothing else.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTalkStand } from '../../../test/talk-stand.ts'

let folder: string
let root: string
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'portolan-files-')))
  root = join(folder, 'corpus')
  mkdirSync(join(root, 'sub'), { recursive: true })
  mkdirSync(join(folder, 'corpus-secret'))
  writeFileSync(join(folder, 'outside.txt'), 'secret')
  writeFileSync(join(folder, 'corpus-secret/x.txt'), 'secret')
  writeFileSync(join(root, 'page.html'), '<title>x</title>')
  writeFileSync(join(root, 'a b%.txt'), 'odd')
  writeFileSync(Buffer.from(`${root}/caf\xe9`, 'latin1'), 'latin')
  writeFileSync(join(root, 'line\nend'), 'never listed')
  symlinkSync('../outside.txt', join(root, 'way-out'))
  symlinkSync('..', join(root, 'sub/up'))
  symlinkSync('page.html', join(root, 'alias'))
  symlinkSync('.', join(root, 'sub/loop'))
  spawnSync('mkfifo', [join(root, 'pipe')])
})
afterAll(() => rmSync(folder, { recursive: true }))

const at = (path: string): string => `file://localhost${path}`

test('a file is read, with the type its name says and its date', async () => {
  await using stand = openTalkStand({ allowFiles: [root] })
  const document = await stand.document(at(`${root}/page.html`))
  expect(document).toMatchObject({ status: 200, mediaType: 'text/html', httpVersion: null, ip: '127.0.0.1' })
  expect(document.header('last-modified')).toMatch(/ GMT$/)
  expect(await stand.text(at(`${root}/a%20b%25.txt`))).toBe('odd')
  expect(await stand.text(at(`${root}/caf%E9`))).toBe('latin')
})

test('a directory is the list of its entries, in the words of FTP', async () => {
  await using stand = openTalkStand({ allowFiles: [root] })
  const document = await stand.document(at(`${root}/`))
  expect(document.mediaType).toBe('text/x-ftp-listing')
  expect(Buffer.from(document.body.bytes()).toString('latin1')).toBe(
    [
      'type=OS.unix=symlink; alias',
      'type=OS.unix=symlink; way-out',
      'type=dir; sub',
      'type=file; a b%.txt',
      'type=file; caf\xe9',
      'type=file; page.html',
      'type=file; pipe',
      '',
    ].join('\r\n'),
  )
})

test('everything has one name: others are redirects to it, so links lead nowhere for ever', async () => {
  await using stand = openTalkStand({ allowFiles: [root] })
  for (const [path, own] of [
    ['/sub', '/sub/'],
    ['/alias', '/page.html'],
    ['/sub/loop/', '/sub/'],
    ['/sub/loop', '/sub/'],
    ['/sub/up/sub/up/page.html', '/page.html'],
  ] as const) {
    const document = await stand.document(at(`${root}${path}`))
    expect(document.status).toBe(301)
    expect(document.header('location')).toBe(at(`${root}${own}`))
  }
})

test.each([
  '/outside.txt',
  '/',
  '/corpus-secret/x.txt',
  '/corpus/way-out',
  '/corpus/../outside.txt',
  '/corpus/sub/up/../outside.txt',
])('%s lies outside and is not read', async (path) => {
  await using stand = openTalkStand({ allowFiles: [root] })
  expect(await stand.ask(at(`${folder}${path}`))).toMatchObject({ kind: 'skipped', reason: 'files-not-allowed' })
})

test('without a directory that is allowed no file is', async () => {
  await using stand = openTalkStand()
  expect(await stand.ask(at(`${root}/page.html`))).toMatchObject({ kind: 'skipped', reason: 'files-not-allowed' })
})

test('what is no plain file, or not there, is not available; a pipe makes nobody wait', async () => {
  await using stand = openTalkStand({ allowFiles: [root] })
  for (const path of ['/none', '/pipe', '/page.html/', '/%00']) {
    expect(await stand.ask(at(`${root}${path}`))).toMatchObject({ kind: 'failed', code: 'FETCH_NOT_AVAILABLE' })
  }
})

test('limits and filters are those of the web', async () => {
  await using stand = openTalkStand({ allowFiles: [root], bodyMax: '4B', rejectTypes: ['text/plain'] })
  expect(await stand.document(at(`${root}/page.html`))).toMatchObject({ truncated: 'length', body: { length: 4 } })
  expect(await stand.ask(at(`${root}/a%20b%25.txt`))).toMatchObject({ kind: 'skipped', reason: 'type-filtered' })
  await using other = openTalkStand({ allowFiles: [root], announcedMax: '4B' })
  expect(await other.ask(at(`${root}/page.html`))).toMatchObject({ kind: 'skipped', reason: 'size-filtered' })
})

test('a directory that is not there is a fault when the fetcher is made', () => {
  expect(() => openTalkStand({ allowFiles: [join(root, 'none')] })).toThrow(/no directory/)
})
