// What `portolan ui DIR` serves: one crawl, where DIR is its directory, or all crawls in the folders of DIR.
//
// A crawl's id is the name of its folder. An id from outside is only ever compared with names that stand there, never made a path.

import { mkdir, readdir } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { ScopePreview } from '../agent/index.ts'
import { diskFault, REFUSALS } from '../base/index.ts'
import { type CrawlConfig, readConfig, SECTIONS } from '../config/index.ts'
import { whoHolds } from '../disk/index.ts'
import { canonicalise, type CanonicalUrl, compileScope, hostKeyOf } from '../url/index.ts'
import { crawlBegun } from '../view/index.ts'
import { idOf } from './crawl-id.ts'
import type { Asked, CrawlSource, CrawlSources } from './crawl-source.ts'
import { type DirectoryCrawl, directoryCrawl } from './directory-crawl.ts'
import { fieldOf } from './option-changes.ts'
import { type FieldProblem, FieldsFault } from './refusals.ts'

/** A folder of more is for a better list than this one. */
const CRAWLS_MAX = 1_000

export interface NewCrawl {
  readonly dir: string
  readonly seeds: readonly CanonicalUrl[]
  /** As in a configuration file. */
  readonly options: Readonly<Record<string, unknown>>
}

/** What the sources cannot do themselves: processes are the command line's. */
export interface CrawlStarter {
  /** Starts a process that begins or goes on with a crawl; resolves when it works, with a word on it. */
  start(crawl: NewCrawl): Promise<string>
  preview(dir: string, url: CrawlConfig['url']): Promise<readonly ScopePreview[]>
  /** The usual name of a crawl's folder. */
  nameOf(seed: CanonicalUrl): string
}

export class DirectorySources implements CrawlSources {
  readonly #root: string
  readonly #isOne: boolean
  readonly #starter: CrawlStarter
  readonly #crawls = new Map<string, DirectoryCrawl>()
  readonly create: CrawlSources['create']

  private constructor(root: string, isOne: boolean, starter: CrawlStarter) {
    this.#root = root
    this.#isOne = isOne
    this.#starter = starter
    this.create = isOne ? null : (asked) => this.#begin(asked)
  }

  static async open(dir: string, starter: CrawlStarter): Promise<DirectorySources> {
    return new DirectorySources(resolve(dir), await crawlBegun(dir), starter)
  }

  /** Whether it is a crawl, or a folder of crawls. */
  get isOne(): boolean {
    return this.#isOne
  }

  async list(): Promise<readonly CrawlSource[]> {
    const names = this.#isOne ? [idOf(this.#root)] : await this.#names()
    return names.map((name) => this.#crawl(name))
  }

  async find(id: string): Promise<CrawlSource | null> {
    const isKnown = this.#isOne ? id === idOf(this.#root) : (await this.#names()).includes(id)
    return isKnown ? this.#crawl(id) : null
  }

  async close(): Promise<void> {
    await Promise.all([...this.#crawls.values()].map((crawl) => crawl.close()))
    this.#crawls.clear()
  }

  #crawl(id: string): DirectoryCrawl {
    const known = this.#crawls.get(id)
    if (known !== undefined) return known
    const dir = this.#isOne ? this.#root : join(this.#root, id)
    const crawl = directoryCrawl({
      id,
      dir,
      start: (options) => this.#starter.start({ dir, seeds: [], options }),
      preview: (url) => this.#starter.preview(dir, url),
    })
    this.#crawls.set(id, crawl)
    return crawl
  }

  async #names(): Promise<string[]> {
    const entries = await readdir(this.#root, { withFileTypes: true }).catch((cause: unknown) => {
      throw diskFault(`reading ${this.#root}`, cause)
    })
    const folders = entries.filter((entry) => entry.isDirectory() && isPlainName(entry.name)).map(({ name }) => name)
    const crawls: string[] = []
    for (const name of folders.toSorted()) {
      if (crawls.length >= CRAWLS_MAX) break
      // One that cannot be read is a crawl in trouble, and says so when it is looked at.
      if (await isCrawl(join(this.#root, name)).catch(() => true)) crawls.push(name)
    }
    return crawls
  }

  async #begin({ name, seeds, options }: Asked<'create'>): Promise<CrawlSource> {
    const { urls, fields, first } = checkNew(seeds, options)
    const id = name ?? (first === undefined ? 'crawl' : basename(this.#starter.nameOf(first)))
    if (!isPlainName(id)) {
      fields.push({
        where: 'name',
        what: 'is no name of a folder: letters, digits, dots, dashes and underscores, at most 100',
      })
    }
    if (fields.length > 0) throw new FieldsFault(fields)
    const dir = join(this.#root, id)
    try {
      // Made by us, now: of two who choose the same name one is told.
      await mkdir(dir)
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw diskFault(`making ${dir}`, cause)
      throw new FieldsFault([
        { where: 'name', what: `'${id}' is there already; choose another name, or go on with that crawl` },
      ])
    }
    await this.#starter.start({ dir, seeds: urls, options })
    return this.#crawl(id)
  }
}

/** As the command line would: every complaint at once, each with its field. */
function checkNew(
  seeds: readonly string[],
  options: Asked<'create'>['options'],
): { readonly urls: CanonicalUrl[]; readonly fields: FieldProblem[]; readonly first: CanonicalUrl | undefined } {
  const file = { name: 'options', content: options }
  const result = readConfig(SECTIONS, { flags: new Map(), environment: {}, file })
  const fields: FieldProblem[] = result.kind === 'problems' ? result.problems.map(fieldOf) : []
  const scope = result.kind === 'config' ? compileScope(result.config.url) : null
  const urls: CanonicalUrl[] = []
  for (const [index, text] of seeds.entries()) {
    const url = canonicalise(text.trim())
    if (typeof url === 'string') scope?.addSeed(url)
    const refusal = typeof url === 'string' ? (scope?.judge(url, 0) ?? null) : url.refused
    if (refusal !== null) fields.push({ where: `seeds.${index}`, what: REFUSALS[refusal] })
    else if (typeof url === 'string') urls.push(url)
  }
  return { urls: [...new Set(urls)], fields, first: urls.find((url) => hostKeyOf(url) !== '') }
}

/** Also one that is just being begun. */
async function isCrawl(dir: string): Promise<boolean> {
  return (await crawlBegun(dir)) || (await whoHolds(join(dir, 'state'))) !== null
}

function isPlainName(name: string): boolean {
  return /^\w[\w.-]{0,99}$/.test(name)
}
