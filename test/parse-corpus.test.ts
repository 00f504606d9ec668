// A sample of real pages, where bench/corpus.ts has put them: scanner and parse5 agree on every link. All of
// them are compared by tools/compare-links.ts.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { scanHtml, decodeText } from '../src/parse/index.ts'
import { parseOptions } from '../src/parse/options.ts'
import { oraclePage, resolvedLinks } from './oracle/parse5-links.ts'

const cache = join(tmpdir(), 'portolan-corpus')
const packages = existsSync(cache) ? readdirSync(cache).filter((name) => !name.endsWith('.partial')) : []
const options = parseOptions.parse({})
const PAGES_PER_PACKAGE = 10
const PAGE_BYTES_MAX = 200_000

describe.skipIf(packages.length === 0)(
  'pages of Debian documentation (skipped where the corpus of bench/corpus.ts is not present)',
  () => {
    test.each(packages)('%s', (name) => {
      const files = readdirSync(join(cache, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.html?(?:\.[\w.-]+)?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
      const step = Math.max(1, Math.floor(files.length / PAGES_PER_PACKAGE))
      for (let index = 0; index < files.length; index += step) {
        const bytes = readFileSync(files[index]!)
        if (bytes.length > PAGE_BYTES_MAX) continue
        const page = scanHtml(bytes, { charset: null }, options)
        const oracle = oraclePage(decodeText(bytes, page.encoding))
        const resolve = (found: typeof page | typeof oracle): string[] =>
          resolvedLinks(found.links, found.baseHref, 'http://docs.example/a/b').sort()
        expect(resolve(page), files[index]).toEqual(resolve(oracle))
        expect(page.title, files[index]).toBe(oracle.title)
      }
    })
  },
)
