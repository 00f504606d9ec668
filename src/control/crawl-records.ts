// What the files of a crawl answer by themselves, whether it runs or not: its course, its events and changes, its archive, what is known
// of a URL, and what the catalogue finds among its pages.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../base/index.ts'
import type { CrawlConfig } from '../config/index.ts'
import { explainUrl, loadTimeline, readHostManners } from '../report/index.ts'
import { finishedFiles, loadShipped } from '../store/index.ts'
import { compileCanonicaliser, compileScope, type HostKey } from '../url/index.ts'
import type { AnswerOf } from './api.ts'
import { readChanges } from './change-log.ts'
import type { Asked } from './crawl-source.ts'
import { readEvents } from './event-log.ts'

/** A host as the catalogue knows it. */
export type CataloguedHost = Pick<AnswerOf<'host'>, 'host' | 'pages' | 'errors' | 'bytes' | 'meanMs'>
export type CataloguedHostFacts = CataloguedHost & Pick<AnswerOf<'host'>, 'statuses' | 'types' | 'failures' | 'skipped'>

/** What is found without looking through everything (src/catalogue). */
export interface CatalogueAnswers {
  pages(asked: Asked<'pages'>): Promise<AnswerOf<'pages'>>
  failures(asked: Asked<'failures'>): Promise<AnswerOf<'failures'>>
  broken(asked: Asked<'broken'>): Promise<AnswerOf<'broken'>>
  hosts(
    asked: Omit<Asked<'hosts'>, 'sort'> & { readonly sort: Exclude<Asked<'hosts'>['sort'], 'waiting'> },
  ): Promise<Omit<AnswerOf<'hosts'>, 'items'> & { readonly items: readonly CataloguedHost[] }>
  host(name: string): Promise<CataloguedHostFacts | null>
  statistics(): Promise<AnswerOf<'statistics'>>
  close(): Promise<void>
}

export class CrawlRecords {
  readonly #dir: string
  readonly #openCatalogue: (dir: string) => Promise<CatalogueAnswers>
  #catalogue: Promise<CatalogueAnswers> | null = null

  constructor(dir: string, openCatalogue: (dir: string) => Promise<CatalogueAnswers>) {
    this.#dir = dir
    this.#openCatalogue = openCatalogue
  }

  /** Built when somebody looks, and kept up from then on. */
  catalogue(): Promise<CatalogueAnswers> {
    const opening = (this.#catalogue ??= this.#openCatalogue(this.#dir))
    opening.catch(() => {
      // The next who asks may have more luck.
      if (this.#catalogue === opening) this.#catalogue = null
    })
    return opening
  }

  async timeline(): Promise<AnswerOf<'timeline'>> {
    return { samples: await loadTimeline(join(this.#dir, 'state/timeline.jsonl')) }
  }

  async events({ after, limit }: Asked<'events'>): Promise<AnswerOf<'events'>> {
    return readEvents(this.#dir, after, limit)
  }

  async changes({ after, limit }: Asked<'changes'>): Promise<AnswerOf<'changes'>> {
    return readChanges(this.#dir, after, limit)
  }

  /** By name, the last first: names carry the time. */
  async archive({ after, limit }: Asked<'archive'>): Promise<AnswerOf<'archive'>> {
    const { finished, open } = await finishedFiles(this.#dir)
    const shipped = await loadShipped(this.#dir)
    const names = [...new Set([...finished.keys(), ...open.keys(), ...shipped.keys()])].toSorted().toReversed()
    const rest = after === undefined ? names : names.filter((name) => name < after)
    const items = await Promise.all(
      rest.slice(0, limit).map(async (name) => {
        const isOpen = !finished.has(name) && open.has(name)
        const there = shipped.get(name)
        const found = await stat(join(this.#dir, isOpen ? `${name}.open` : name)).catch(() => null)
        return {
          name,
          bytes: found?.size ?? there?.bytes ?? 0,
          isOpen,
          shipped: there?.to ?? null,
          modifiedAt: new Date(found?.mtimeMs ?? 0).toISOString(),
        }
      }),
    )
    return { items, next: rest.length > items.length ? (items.at(-1)?.name ?? null) : null, total: names.length }
  }

  async explain(text: string, config: CrawlConfig): Promise<AnswerOf<'explain'>> {
    const url = compileCanonicaliser(config.url)(text)
    if (typeof url !== 'string') return { url: text, state: 'refused', refusal: url.refused }
    const explanation = await explainUrl(this.#dir, url, {
      judge: (seeds, depth) => {
        const scope = compileScope(config.url)
        for (const seed of seeds) scope.addSeed(seed)
        return scope.judge(url, depth)
      },
      frontier: config.frontier,
      crawlDelayMaxMs: config.robots.crawlDelayMax,
      wallMs: systemClock.wallMs(),
    })
    return { ...explanation }
  }

  /** How a host is treated, and why. */
  async mannersOf(host: string, config: CrawlConfig): Promise<Pick<AnswerOf<'host'>, 'restBecause' | 'robots'>> {
    const { manners, robots } = await readHostManners(this.#dir, host as HostKey, {
      frontier: config.frontier,
      crawlDelayMaxMs: config.robots.crawlDelayMax,
      wallMs: systemClock.wallMs(),
    })
    return {
      restBecause: [...manners.because],
      robots:
        robots === null
          ? null
          : {
              answer: robots.rules.answer,
              fetchedAt: new Date(robots.fetchedWallMs).toISOString(),
              crawlDelayMs: robots.rules.crawlDelayMs,
            },
    }
  }

  async close(): Promise<void> {
    await this.#catalogue?.then(
      (catalogue) => catalogue.close(),
      () => undefined,
    )
  }
}
