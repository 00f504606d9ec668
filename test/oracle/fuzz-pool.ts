// Real pages for the fuzz: those of the material, and a sample of the Debian documentation that bench/corpus.ts has
// unpacked. Where neither is present the pool is empty.

import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { materialPath } from '../material.ts'

const PAGES_PER_PACKAGE = 20
const PAGE_BYTES_MAX = 100_000

export function fuzzPool(): Buffer[] {
  return [...materialPages(), ...corpusSample()]
}

/** Without the documentation: less to read. */
export function materialPages(): Buffer[] {
  return [...treePages(), ...jsoupPages()].filter((page) => page.length > 0)
}

/** Says which pool it was: the same seed makes other pages of another. */
export function poolName(pool: readonly Buffer[]): string {
  const hash = createHash('sha256')
  for (const page of pool) hash.update(page)
  return `${pool.length} pages ${hash.digest('hex').slice(0, 12)}`
}

function treePages(): Buffer[] {
  const folder = materialPath('html', 'wpt-tree-construction')
  if (folder === null) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.dat'))
    .flatMap((name) =>
      readFileSync(join(folder, name), 'latin1')
        .split(/^#data\n/m)
        .slice(1),
    )
    .map((block) => Buffer.from(block.split('\n#errors')[0] ?? '', 'latin1'))
}

function jsoupPages(): Buffer[] {
  const folder = materialPath('html', 'jsoup')
  if (folder === null) return []
  return ['htmltests', 'fuzztests']
    .flatMap((part) => readdirSync(join(folder, part)).map((name) => join(folder, part, name)))
    .filter((path) => /html(?:\.gz)?$/.test(path) && !path.includes('fake-gzip'))
    .map((path) => (path.endsWith('.gz') ? gunzipSync(readFileSync(path)) : readFileSync(path)))
}

function corpusSample(): Buffer[] {
  const cache = join(tmpdir(), 'portolan-corpus')
  if (!existsSync(cache)) return []
  return readdirSync(cache)
    .filter((name) => !name.endsWith('.partial'))
    .flatMap((name) => {
      const files = readdirSync(join(cache, name), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.html?(?:\.[\w.-]+)?$/.test(entry.name))
        .map((entry) => join(entry.parentPath, entry.name))
        .sort()
      const step = Math.max(1, Math.floor(files.length / PAGES_PER_PACKAGE))
      return files
        .filter((_, index) => index % step === 0)
        .map((path) => readFileSync(path).subarray(0, PAGE_BYTES_MAX))
    })
}
