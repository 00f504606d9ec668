// The lens prints what the rules say, one line per URL, and explains what is wrong with its arguments.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { robotsCommand } from './robots-lens.ts'

const TEXT = [
  'User-agent: *',
  'Disallow: /private # keep out',
  'Allow:\t/private/open',
  '',
  'User-agent: other',
  'Crawl-delay: 2.5',
  'Disallow: /',
  'Sitemap: https://example.org/s.xml',
].join('\n')

let directory = ''
let file = ''
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'portolan-robots-'))
  file = join(directory, 'robots.txt')
  writeFileSync(file, TEXT)
})
afterAll(() => rmSync(directory, { recursive: true }))

async function run(args: string[], stdin = ''): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await robotsCommand(args, {
    stdin: Readable.from([Buffer.from(stdin)]),
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

test('a line per URL: the word, the URL as given, the deciding line without its comment, or a dash', async () => {
  const urls = [
    'https://example.org/private/x?y#z',
    'https://example.org/private/open',
    'https://example.org',
    '/private',
  ]
  expect(await run([file, '--agent', 'portolan', ...urls])).toEqual({
    code: 0,
    out: [
      'disallowed\thttps://example.org/private/x?y#z\tDisallow: /private',
      'allowed\thttps://example.org/private/open\tAllow: /private/open',
      'allowed\thttps://example.org\t-',
      'disallowed\t/private\tDisallow: /private',
      '',
    ].join('\n'),
    err: '',
  })
})

test('the file may come from standard input, and a whole User-Agent may name the crawler', async () => {
  const { out } = await run(['-', '--agent', 'Other/1.0 (+https://x)', 'http://a/b'], TEXT)
  expect(out).toBe('disallowed\thttp://a/b\tDisallow: /\n')
})

test('--json gives everything in one object', async () => {
  const { out } = await run(['--json', '--agent=other', file, '/b'])
  expect(JSON.parse(out)).toEqual({
    agent: 'other',
    crawlDelaySeconds: 2.5,
    sitemaps: ['https://example.org/s.xml'],
    decisions: [{ url: '/b', allowed: false, line: 7, rule: 'Disallow: /' }],
  })
})

test('what is no URL is named on the error stream, the others are still answered, and the exit code says so', async () => {
  const { code, out, err } = await run([file, '--agent', 'x', 'nonsense', '/ok'])
  expect([code, out]).toEqual([1, 'allowed\t/ok\t-\n'])
  expect(err).toContain("'nonsense'")
})

test.each([
  [[], ['FILE: which one?', '--agent: for which crawler?', 'URL: about which ones?']],
  [['-'], ['--agent NAME']],
  [['-', '--agent', '(x)', '/a'], ["--agent: '(x)' begins with no name"]],
  [['-', '--agent', 'x'], ['URL: about which ones?']],
  [['-', '/a', '--agent'], ['--agent: needs a value']],
  [
    ['-', '--agnet', 'x', '/a', '--jsno'],
    ['--agnet: unknown; did you mean --agent?', '--jsno: unknown; did you mean --json?'],
  ],
])('arguments %j are refused with every reason', async (args, words) => {
  const { code, out, err } = await run(args)
  expect([code, out]).toEqual([2, ''])
  for (const word of words) expect(err).toContain(word)
})

test('a file that cannot be read is named with the reason', async () => {
  await expect(run(['/nowhere/robots.txt', '--agent', 'x', '/a'])).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: "'/nowhere/robots.txt' cannot be read: there is no such file",
  })
})

test('nothing in the file acts on the terminal', async () => {
  const { out } = await run(
    ['-', '--agent', 'x', '/a\u009b'],
    'User-agent: *\nDisallow: /a\u001b[2J\u009b31m*\nDisallow: /a\u202e',
  )
  expect(out).toMatch(/^(dis)?allowed\t/)
  expect(out).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/)
})
