// The lens prints a line per link, names what is refused and why, and explains what is wrong with its arguments.

import { expect, test } from 'vitest'
import { urlCommand, urlLens } from './url-lens.ts'

async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await urlCommand(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

test('a line per link: canonical URL, host key, slot, fingerprint', async () => {
  const { code, out, err } = await run('HTTP://Example.org:80/a/../b#c', 'https://example.org:8443/')
  expect(code).toBe(0)
  expect(err).toBe('')
  const lines = out.split('\n').map((line) => line.split('\t'))
  expect(lines).toHaveLength(3)
  expect(lines[0]!.slice(0, 2)).toEqual(['http://example.org/b', 'example.org'])
  expect(lines[1]!.slice(0, 2)).toEqual(['https://example.org:8443/', 'example.org'])
  for (const [, , slot, fingerprint] of lines.slice(0, 2)) {
    expect(fingerprint).toMatch(/^[0-9a-f]{16}$/)
    expect(Number(slot)).toBe(Number.parseInt(fingerprint!.slice(0, 4), 16))
  }
  expect(lines[0]![2]).toBe(lines[1]![2])
  expect(lines[0]![3]).not.toBe(lines[1]![3])
})

test('links are resolved against the base, in the charset of its page', async () => {
  const { out } = await run('--base', 'https://example.org/a/b', '--charset', 'latin1', '../c?é', '#d')
  expect(out.split('\n').map((line) => line.split('\t')[0])).toEqual([
    'https://example.org/c?%E9',
    'https://example.org/a/b',
    '',
  ])
})

test('what is refused is named on stderr with its reason, the rest still printed, and the exit code is 1', async () => {
  const { code, out, err } = await run('mailto:a@example.org', 'http://example.org/', 'a/b')
  expect(code).toBe(1)
  expect(out).toMatch(/^http:\/\/example\.org\/\t[^\n]+\n$/)
  expect(err.split('\n')).toEqual([
    expect.stringMatching(/^portolan: 'mailto:a@example.org' is refused \(scheme\): /),
    expect.stringMatching(/^portolan: 'a\/b' is refused \(invalid-url\): /),
    '',
  ])
})

test('--json gives one object on stdout, refusals included', async () => {
  const { code, out } = await run('--json', 'http://example.org/', 'data:,x')
  expect(code).toBe(1)
  const { urls } = JSON.parse(out) as { urls: Record<string, unknown>[] }
  expect(urls[0]).toMatchObject({ link: 'http://example.org/', url: 'http://example.org/', host: 'example.org' })
  expect(urls[1]).toEqual({ link: 'data:,x', refused: 'scheme' })
})

test.each([
  [[], 'URL: which ones?'],
  [['--base'], '--base: needs a value'],
  [['--base', '/a', 'b'], "--base: '/a' is no page of a crawl (invalid-url)"],
  [['--base', 'sftp://a/', 'b'], "--base: 'sftp://a/' is no page of a crawl (scheme)"],
  [['--charset', 'klingon', 'http://h/'], "--charset: 'klingon' is no encoding"],
  [['--bse', 'x'], '--bse: unknown; did you mean --base?'],
  [['--json=yes', 'http://h/'], '--json: takes no value'],
])('%j is refused as a wrong use', async (args, complaint) => {
  const { code, out, err } = await run(...args)
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain(`  ${complaint}`)
})

test('all that is wrong is told at once', async () => {
  const { err } = await run('--bse', 'x', '--charset', 'klingon', '--xyz')
  expect(err).toContain('there are 4 problems')
})

test('a long link is cut where it is named, and nothing in it acts on the terminal', async () => {
  const { err } = await run(`http://a.test/${'x'.repeat(9_000)}`, 'x:\u001b[2J')
  expect(err.length).toBeLessThan(600)
  expect(err).not.toContain('\u001b')
})

test('the help teaches by example', () => {
  expect(urlLens.examples.length).toBeGreaterThan(1)
  expect(urlLens.details()).toContain('slot')
})
