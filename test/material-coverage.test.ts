// Every file of the material about HTML and encodings is read by a test, or it is said why not. A file that is in no row fails,
// and so does a row without a file: what others add is not overlooked.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { hasMaterial, materialPath } from './material.ts'

/** Patterns of paths, and the test that reads them; a second word must stand in that test. */
const READ_BY: readonly (readonly [pattern: RegExp, test: string, word: string])[] = [
  [/^html\/html5lib-tokenizer\/.*\.test$/, 'src/parse/html-oracle.test.ts', 'html5lib-tokenizer'],
  [/^html\/wpt-tree-construction\/.*\.dat$/, 'src/parse/html-oracle.test.ts', 'wpt-tree-construction'],
  [/^html\/jsoup\//, 'src/parse/html-oracle.test.ts', 'jsoup'],
  [/^html\/nutch-robots-meta\.json$/, 'src/parse/html-vectors.test.ts', 'nutch-robots-meta.json'],
  [/^html\/scrapy-linkextractor\.json$/, 'src/parse/html-vectors.test.ts', 'scrapy-linkextractor.json'],
  [/^html\/w3lib-html\.json$/, 'src/parse/html-vectors.test.ts', 'w3lib-html.json'],
  [/^html\/wpt-meta-refresh\.json$/, 'src/parse/meta-refresh.test.ts', 'wpt-meta-refresh.json'],
  [/^html\/wpt-srcset\.json$/, 'src/parse/srcset.test.ts', 'wpt-srcset.json'],
  [/^encoding\/html-encoding-sniffer(?:\.json|\/.*\.html)$/, 'src/parse/encoding.test.ts', 'html-encoding-sniffer.json'],
  [/^encoding\/html5lib-encoding(?:\.json|\/[^/]*\.dat)$/, 'src/parse/encoding.test.ts', 'html5lib-encoding.json'],
  [/^encoding\/html5lib-encoding\/chardet\//, 'src/parse/encoding-material.test.ts', 'test_big5.txt'],
  [/^encoding\/html5lib-encoding\/scripted\//, 'src/parse/encoding-material.test.ts', 'scripted/tests1.dat'],
  [/^encoding\/jsoup(?:\.json|-bom\/bom_utf(?:8|16..)\.html)$/, 'src/parse/encoding.test.ts', 'jsoup.json'],
  [/^encoding\/jsoup-bom\/(?:bom_utf32..\.html|bom_utf8\.html\.gz)$/, 'src/parse/encoding-material.test.ts', 'bom_utf32le.html'],
  [/^encoding\/node-chardet\//, 'src/parse/encoding-material.test.ts', 'node-chardet'],
  [/^encoding\/w3lib-encoding\.json$/, 'src/parse/encoding-material.test.ts', 'w3lib-encoding.json'],
  [/^encoding\/wpt-html-charset\//, 'src/parse/encoding-material.test.ts', 'wpt-html-charset'],
  [/^encoding\/wpt-japanese-decode-errors\.json$/, 'src/parse/encoding-material.test.ts', 'wpt-japanese-decode-errors.json'],
  [/^encoding\/wpt-legacy-japanese\/.*_chars\.html$/, 'src/parse/encoding.test.ts', 'wpt-legacy-japanese'],
  [/^encoding\/wpt-legacy-japanese\/(?:.*_errors|eof-.*|bom-handling)\.html$/, 'src/parse/encoding-material.test.ts', 'wpt-legacy-japanese'],
] // prettier-ignore

const NOT_READ: readonly (readonly [pattern: RegExp, why: string])[] = [
  [/(?:^|\/)(?:README(?:\.md)?|LICENSE)$/, 'says what the others are'],
  [/\.headers$/, 'the Content-Type of the page beside it, named in its test'],
  [/^encoding\/node-chardet-index\.json$/, 'a list of the files beside it, all of which are read'],
]

describe.skipIf(!hasMaterial)('the material about HTML and encodings (skipped where it is not present)', () => {
  const files = ['html', 'encoding'].flatMap((topic) => {
    const folder = materialPath(topic) ?? '.'
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${topic}/${join(entry.parentPath, entry.name).slice(folder.length).replace(/^\//, '')}`)
  })

  test('every file is read, or said not to be', () => {
    const patterns = [...READ_BY, ...NOT_READ].map(([pattern]) => pattern)
    expect(files.filter((file) => !patterns.some((pattern) => pattern.test(file)))).toEqual([])
    expect(patterns.filter((pattern) => !files.some((file) => pattern.test(file)))).toEqual([])
  })

  test.each(READ_BY)('%s is read by %s', (_pattern, path, word) => {
    expect(readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')).toContain(word)
  })
})
