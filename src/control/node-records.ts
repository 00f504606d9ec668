// What the files of a node of a cluster answer while it works: like those of any crawl, but pages are with its shares.

import type { CrawlConfig } from '../config/index.ts'
import type { AnswerOf } from './api.ts'
import { CrawlRecords } from './crawl-records.ts'
import { mostSaid } from './merged-lists.ts'
import { NodeCatalogue } from './node-catalogue.ts'
import { openBesideCrawl, opener } from './open-catalogue.ts'

export class NodeRecords extends CrawlRecords {
  readonly #shareDirs: () => readonly string[]

  constructor(dir: string, shareDirs: () => readonly string[]) {
    super(dir, async () => new NodeCatalogue(shareDirs, opener()))
    this.#shareDirs = shareDirs
  }

  override async explain(text: string, config: CrawlConfig): Promise<AnswerOf<'explain'>> {
    const answers: AnswerOf<'explain'>[] = []
    for (const dir of this.#shareDirs()) {
      answers.push(await new CrawlRecords(dir, openBesideCrawl).explain(text, config))
    }
    return mostSaid(answers) ?? super.explain(text, config)
  }
}
