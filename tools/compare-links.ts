// Compares the HTML scanner with the parse5 oracle on every page below the given directories:
//
//   node tools/compare-links.ts DIR…
//
// Prints each page whose set of links, base, title, language or canonical differ, and exits 1 if there is one. Pages
// with the same links in another order (a tree moves what stands wrongly in a table) are only counted.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseOptions } from '../src/parse/options.ts'
import { scanHtml } from '../src/parse/html.ts'
import { decodeText } from '../src/parse/text-decoding.ts'
import { oraclePage, resolvedLinks } from '../test/oracle/parse5-links.ts'

const options = parseOptions.parse({ linksPerPage: 10_000_000 })
let moved = 0

/** What differs between scanner and oracle on a page, a line each; empty when they agree. */
function differences(bytes: Uint8Array, url: string): string[] {
  const page = scanHtml(bytes, { charset: null }, options)
  const oracle = oraclePage(decodeText(bytes, page.encoding))
  const ours = new Set(resolvedLinks(page.links, page.baseHref, url))
  const theirs = new Set(resolvedLinks(oracle.links, oracle.baseHref, url))
  const lines: string[] = []
  for (const link of theirs) if (!ours.has(link)) lines.push(`missing ${link}`)
  for (const link of ours) if (!theirs.has(link)) lines.push(`extra ${link}`)
  if (lines.length === 0 && [...ours].join(' ') !== [...theirs].join(' ')) moved++
  for (const fact of ['baseHref', 'title', 'language', 'canonical'] as const) {
    const theirFact = fact === 'title' ? (oracle.title?.slice(0, options.titleLength) ?? null) : oracle[fact]
    if (page[fact] !== theirFact)
      lines.push(`${fact}: ${JSON.stringify(page[fact])} instead of ${JSON.stringify(theirFact)}`)
  }
  return lines
}

let pages = 0
let links = 0
let different = 0
for (const directory of process.argv.slice(2)) {
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    const path = join(directory, name)
    if (!/\.x?html?(?:\.[a-z]{2}(?:[-._].*)?)?$/i.test(name) || !statSync(path).isFile()) continue
    const bytes = readFileSync(path)
    pages++
    links += scanHtml(bytes, { charset: null }, options).links.length
    const lines = differences(bytes, pathToFileURL(path).href.replace('file:///', 'http://corpus.example/'))
    if (lines.length === 0) continue
    different++
    console.log(path)
    for (const line of lines.slice(0, 10)) console.log(`  ${line}`)
    if (lines.length > 10) console.log(`  … and ${lines.length - 10} more`)
  }
}
console.log(`${pages} pages, ${links} links, ${different} pages differ, ${moved} only in order`)
process.exitCode = different === 0 ? 0 : 1
