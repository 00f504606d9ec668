// Where a catalogue is opened for the control API: what finds pages among millions (src/catalogue). It reads on by itself, beside a crawl
// that runs with a small share of a core; small crawls are read whole before the first answer.

import { type CatalogueDesk, CatalogueThread } from '../catalogue/index.ts'

/** How long the first who asks waits for it to be read. */
const FIRST_LOOK_MS = 200

export function openBesideCrawl(dir: string): Promise<CatalogueDesk> {
  return opener()(dir)
}

export function openAtRest(dir: string): Promise<CatalogueDesk> {
  return opener({ cpuShare: 1 })(dir)
}

/** Of several that are open beside the same crawl: they have one thread, and the share of one. */
export function opener(options: { readonly cpuShare?: number } = {}): (dir: string) => Promise<CatalogueDesk> {
  const thread = new CatalogueThread(options)
  return async (dir) => {
    const catalogue = await thread.open(dir)
    await catalogue.advance(FIRST_LOOK_MS)
    return catalogue
  }
}
