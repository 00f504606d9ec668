// What a node of a cluster finds among the pages of its shares. While it works they are not merged in one place: each share has files of
// its own, like the directory of a crawl, and a catalogue of its own, opened when somebody asks and closed when the share has gone; all of
// them live in one thread (open-catalogue.ts).

import type { AnswerOf } from './api.ts'
import type { CataloguedHost, CatalogueAnswers } from './crawl-records.ts'
import type { Asked } from './crawl-source.ts'
import { type MergedList, mergeLists, type PartOfList } from './merged-lists.ts'
import { sumStatistics } from './sum-statistics.ts'

type Sorted = Parameters<CatalogueAnswers['hosts']>[0]

export class NodeCatalogue implements CatalogueAnswers {
  readonly #shareDirs: () => readonly string[]
  readonly #openOne: (dir: string) => Promise<CatalogueAnswers>
  readonly #open = new Map<string, Promise<CatalogueAnswers>>()

  /** `shareDirs`: of the shares that are here now. */
  constructor(shareDirs: () => readonly string[], openOne: (dir: string) => Promise<CatalogueAnswers>) {
    this.#shareDirs = shareDirs
    this.#openOne = openOne
  }

  pages(asked: Asked<'pages'>): Promise<AnswerOf<'pages'>> {
    type Page = AnswerOf<'pages'>['items'][number]
    const compare = (one: Page, two: Page): number => newerFirst(one.fetchedAt, two.fetchedAt)
    return this.#merged(asked, (catalogue, part) => catalogue.pages({ ...asked, ...part }), compare)
  }

  failures(asked: Asked<'failures'>): Promise<AnswerOf<'failures'>> {
    type Failure = AnswerOf<'failures'>['items'][number]
    const compare = (one: Failure, two: Failure): number => newerFirst(one.when, two.when)
    return this.#merged(asked, (catalogue, part) => catalogue.failures({ ...asked, ...part }), compare)
  }

  broken(asked: Asked<'broken'>): Promise<AnswerOf<'broken'>> {
    const ask = (catalogue: CatalogueAnswers, part: Part) => catalogue.broken({ ...asked, ...part })
    return this.#merged(asked, ask, (one, two) => newerFirst(two.url, one.url))
  }

  hosts(asked: Sorted): ReturnType<CatalogueAnswers['hosts']> {
    const { sort } = asked
    const compare = (one: CataloguedHost, two: CataloguedHost): number =>
      (sort === 'host' ? 0 : figureOf(two, sort) - figureOf(one, sort)) || newerFirst(two.host, one.host)
    return this.#merged(asked, (catalogue, part) => catalogue.hosts({ ...asked, ...part }), compare)
  }

  async host(name: string): ReturnType<CatalogueAnswers['host']> {
    const found = await Promise.all([...(await this.#catalogues()).values()].map((catalogue) => catalogue.host(name)))
    // It belongs to one share.
    return found.filter((one) => one !== null).toSorted((one, two) => two.pages - one.pages)[0] ?? null
  }

  async statistics(): Promise<AnswerOf<'statistics'>> {
    const catalogues = await this.#catalogues()
    return sumStatistics(await Promise.all([...catalogues.values()].map((catalogue) => catalogue.statistics())))
  }

  async close(): Promise<void> {
    for (const dir of this.#open.keys()) await this.#close(dir)
  }

  async #merged<T>(
    { limit, after }: { readonly limit: number; readonly after?: string | undefined },
    ask: (catalogue: CatalogueAnswers, part: Part) => Promise<PartOfList<T>>,
    compare: (one: T, two: T) => number,
  ): Promise<MergedList<T> & { items: T[] }> {
    const catalogues = await this.#catalogues()
    const merged = await mergeLists<T>({
      nodes: [...catalogues.keys()],
      limit,
      after,
      ask: async (dir, from) => ask(catalogues.get(dir) as CatalogueAnswers, { limit, after: from ?? undefined }),
      compare,
    })
    return { ...merged, items: [...merged.items] }
  }

  async #catalogues(): Promise<ReadonlyMap<string, CatalogueAnswers>> {
    const here = new Set(this.#shareDirs())
    for (const dir of this.#open.keys()) if (!here.has(dir)) await this.#close(dir)
    const opened = await Promise.all([...here].map(async (dir) => [dir, await this.#opened(dir)] as const))
    return new Map(opened)
  }

  #opened(dir: string): Promise<CatalogueAnswers> {
    const known = this.#open.get(dir)
    if (known !== undefined) return known
    const opening = this.#openOne(dir)
    this.#open.set(dir, opening)
    opening.catch(() => {
      // The next who asks may have more luck.
      if (this.#open.get(dir) === opening) this.#open.delete(dir)
    })
    return opening
  }

  async #close(dir: string): Promise<void> {
    const opening = this.#open.get(dir)
    this.#open.delete(dir)
    const catalogue = await opening?.catch(() => null)
    await catalogue?.close()
  }
}

function figureOf(host: CataloguedHost, sort: Exclude<Sorted['sort'], 'host'>): number {
  return (sort === 'time' ? host.meanMs : host[sort]) ?? 0
}

interface Part {
  readonly limit: number
  readonly after: string | undefined
}

function newerFirst(one: string, two: string): number {
  return one < two ? 1 : one > two ? -1 : 0
}
