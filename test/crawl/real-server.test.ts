// A real web server: nginx with its compression, its redirects to the trailing slash and its error
// pages, crawled to exactly what lies on its disk.

import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkArchive } from '../archive-check.ts'
import { bodyProblems } from './check-bodies.ts'
import { startNginx } from './nginx.ts'
import { crawl, FAST, temporaryDirectory } from './run-crawl.ts'

const page = (title: string, body: string): string =>
  `<!doctype html><html lang=en><head><meta charset=utf-8><title>${title}</title></head><body>${body}</body></html>`

const SITE: Readonly<Record<string, string>> = {
  'robots.txt': 'User-agent: *\nDisallow: /hidden/\n',
  'index.html': page(
    'Front',
    `<a href="docs">docs without a slash</a> <a href="docs/">with</a> <a href=large.html>large</a>
     <a href="hidden/secret.html">hidden</a> <a href="missing.html">missing</a> <img src=dot.png>
     <link rel=stylesheet href=style.css> <a href="copy.html">a copy</a> <a href="mailto:a@b.test">mail</a>`,
  ),
  'docs/index.html': page('Docs', '<a href=a.html>a</a> <a href="../index.html">up</a> <a href="b%20c.html">space</a>'),
  'docs/a.html': page('A', `<a href="/docs/caf&eacute;.html?x=1&amp;y=2">é</a>`),
  'docs/b c.html': page('B C', 'leaf'),
  'docs/café.html': page('Café', 'leaf'),
  'hidden/secret.html': page('Secret', 'nobody may see this'),
  'style.css': '/* colours */ body { background: url("dot.png?v=2") } @import "more.css";'.padEnd(400),
  'more.css': 'p { color: red }',
  'dot.png': '\u0089PNG not really',
  'large.html': page('Large', `${'<p>words and more words</p>\n'.repeat(8_000)}<a href="docs/a.html">a</a>`),
}

const EXPECTED = [
  ['', 200],
  ['copy.html', 200],
  ['docs', 301],
  ['docs/', 200],
  ['docs/a.html', 200],
  ['docs/b%20c.html', 200],
  ['docs/caf%C3%A9.html?x=1&y=2', 200],
  ['dot.png', 200],
  ['dot.png?v=2', 200],
  ['index.html', 200],
  ['large.html', 200],
  ['missing.html', 404],
  ['more.css', 200],
  ['style.css', 200],
] as const

test.for(['none', 'gzip'])('nginx is crawled to what is on its disk, archived as it came (--warc %s)', async (warc) => {
  const root = temporaryDirectory(onTestFinished)
  for (const [name, text] of Object.entries(SITE)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  symlinkSync('large.html', join(root, 'copy.html'))
  const nginx = await startNginx(root)
  onTestFinished(() => nginx.stop())

  const result = await crawl({ seeds: [nginx.url], dir: temporaryDirectory(onTestFinished), flags: { ...FAST, warc } })
  const found = result.pages.map((one) => [one.url.slice(nginx.url.length), one.status] as const)
  expect(found.toSorted((a, b) => (a[0] < b[0] ? -1 : 1))).toEqual(EXPECTED)
  expect(result.failures).toMatchObject([{ url: `${nginx.url}hidden/secret.html`, reason: 'robots' }])

  const large = result.pages.filter((one) => one.bytes > 200_000)
  expect(large).toHaveLength(2)
  // The server compresses; what went over the wire is a fraction of what was decoded.
  for (const one of large) expect(one.wireBytes).toBeLessThan(one.bytes / 10)
  expect(large.filter((one) => one.duplicateOf !== undefined)).toHaveLength(1)

  const check = checkArchive(result.dir)
  expect(check.problems).toEqual([])
  expect(bodyProblems(result.pages, check.files)).toEqual([])

  // Every request once: the pages and robots.txt, nothing else.
  const asked = readFileSync(nginx.logPath, 'utf8').trim().split('\n')
  expect(asked).toHaveLength(EXPECTED.length + 1)
})
