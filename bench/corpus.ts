// Real pages for benches and oracles: the HTML of Debian documentation packages, fetched once by apt-get into
// a cache outside the repository and unpacked there.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const CACHE = join(tmpdir(), 'portolan-corpus')

/** Documentation of different hands: DocBook, a manual in nine languages, Sphinx, Javadoc in Shift_JIS. */
export const CORPUS_PACKAGES = ['postgresql-doc-15', 'apache2-doc', 'python3.11-doc', 'libjlha-java-doc-ja'] as const

export interface CorpusPage {
  /** Where the page would stand on a site: its path in the package. */
  readonly path: string
  readonly bytes: Buffer
}

/** The directory of an unpacked package, or null, with a line on stderr that says why it cannot be had. */
export function corpusDirectory(name: string): string | null {
  const target = join(CACHE, name)
  if (existsSync(target)) return target
  const download = join(CACHE, `${name}.partial`)
  rmSync(download, { recursive: true, force: true })
  mkdirSync(download, { recursive: true })
  const fetched = spawnSync('apt-get', ['download', name], { cwd: download, encoding: 'utf8' })
  const file = fetched.status === 0 ? readdirSync(download).find((entry) => entry.endsWith('.deb')) : undefined
  const unpacked =
    file === undefined
      ? null
      : spawnSync('dpkg', ['-x', join(download, file), join(download, 'tree')], { encoding: 'utf8' })
  if (unpacked === null || unpacked.status !== 0) {
    const why = (fetched.error?.message ?? (unpacked?.stderr || fetched.stderr)).trim().split('\n').at(-1) ?? ''
    console.error(`corpus: ${name} cannot be had by apt-get and dpkg, so it is left out: ${why}`)
    rmSync(download, { recursive: true, force: true })
    return null
  }
  renameSync(join(download, 'tree'), target)
  rmSync(download, { recursive: true, force: true })
  return target
}

/** Every HTML page of the packages that can be had, in a fixed order. Links to files are not followed. */
export function* corpusPages(packages: readonly string[] = CORPUS_PACKAGES): Generator<CorpusPage> {
  for (const name of packages) {
    const directory = corpusDirectory(name)
    if (directory !== null) yield* pagesIn(directory, `/${name}`)
  }
}

function* pagesIn(directory: string, path: string): Generator<CorpusPage> {
  const entries = readdirSync(directory, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const entry of entries) {
    const child = join(directory, entry.name)
    if (entry.isDirectory()) yield* pagesIn(child, `${path}/${entry.name}`)
    else if (entry.isFile() && /\.html?(\.[\w.-]+)?$/.test(entry.name)) {
      yield { path: `${path}/${entry.name}`, bytes: readFileSync(child) }
    }
  }
}

/** What stands in href and src, as written, without character references: enough for benches of links. */
export function rawLinks(page: CorpusPage): string[] {
  const text = page.bytes.toString('latin1')
  return Array.from(text.matchAll(/\s(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')/gi), (match) =>
    (match[1] ?? match[2] ?? '').replaceAll('&amp;', '&'),
  )
}
