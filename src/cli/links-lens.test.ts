// The lens prints the links of a page as a crawl would know them.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { linksCommand } from './links-lens.ts'

let directory = ''
let file = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'portolan-links-'))
  file = join(directory, 'page.html')
  writeFileSync(
    file,
    '<title>A page</title><a href=b#f>1</a><img src=/c.png><a href="b">2</a><a href=mailto:x>3</a><a href=ftp://h/d rel=nofollow>',
  )
})
afterAll(() => rmSync(directory, { recursive: true }))

async function run(
  args: string[],
  stdin: string | Uint8Array = '',
): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await linksCommand(args, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

test('canonical links in document order, without fragments, repetitions and other schemes', async () => {
  expect(await run([file, '--base', 'http://EXAMPLE.org:80/a/'])).toEqual({
    code: 0,
    out: 'http://example.org/a/b\nhttp://example.org/c.png\nftp://h/d\n',
    err: '',
  })
})

test('a base in the page is resolved against the base given', async () => {
  const { out } = await run(['-', '--base', 'http://example.org/a/'], '<a href=x><base href=../b/>')
  expect(out).toBe('http://example.org/b/x\n')
})

test('queries are encoded in the charset of the page', async () => {
  const page = Buffer.from('<a href="\xe9?\xe9">', 'latin1')
  const args = ['-', '--base', 'http://example.org/']
  expect((await run([...args, '--charset', 'latin1'], page)).out).toBe('http://example.org/%C3%A9?%E9\n')
  expect((await run([...args, '--charset', 'windows-1251'], page)).out).toBe('http://example.org/%D0%B9?%E9\n')
})

test('a page without links prints nothing', async () => {
  expect(await run(['-', '--base', 'http://example.org/'], 'text')).toEqual({ code: 0, out: '', err: '' })
})

test('--json tells what else is known of the page', async () => {
  const { out } = await run([file, '--base', 'http://example.org/', '--json'])
  expect(JSON.parse(out)).toMatchObject({
    title: 'A page',
    links: [
      { url: 'http://example.org/b', kind: 'a', isNofollow: false },
      { url: 'http://example.org/c.png', kind: 'img', isNofollow: false },
      { url: 'ftp://h/d', kind: 'a', isNofollow: true },
    ],
  })
})

test.each([
  [[], ['FILE: which page?', '--base: where was the page?']],
  [['page.html'], ['--base: where was the page?']],
  [['page.html', '--base'], ['--base: needs a value']],
  [['page.html', '--base', 'nonsense'], ["--base: 'nonsense'"]],
  [['page.html', '--base', 'mailto:x@example.org'], ["--base: 'mailto:x@example.org' is no URL of a page"]],
  [['page.html', 'other.html', '--base', 'http://example.org/'], ["'other.html': one page at a time"]],
  [['page.html', '--base', 'http://example.org/', '--charset', 'ebcdic'], ["--charset: 'ebcdic' names no encoding"]],
  [
    ['page.html', '--bass', 'http://example.org/', '--jsn'],
    ['did you mean --base?', 'did you mean --json?'],
  ],
])('%j is refused with a word about all that is wrong', async (args, words) => {
  const { code, out, err } = await run(args)
  expect([code, out]).toEqual([2, ''])
  for (const word of words) expect(err).toContain(word)
})

test('a file that cannot be read is named with the reason', async () => {
  await expect(run(['/no/such/page.html', '--base', 'http://example.org/'])).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: "'/no/such/page.html' cannot be read: there is no such file",
  })
})
