// Where a catalogue is opened for the control API: what finds pages among millions (src/catalogue). It reads on by itself, beside a crawl
// that runs with a small share of a core; small crawls are read whole before the first answer.

import { type CatalogueDesk, CPU_SHARE_USUAL, openCatalogue } from '../catalogue/index.ts'

/** How long the first who asks waits for it to be read. */
const FIRST_LOOK_MS = 200

/** `among`: so many that are open beside the same crawl have that share together. */
export function openBesideCrawl(dir: string, among = 1): Promise<CatalogueDesk> {
  return openFor(dir, CPU_SHARE_USUAL / Math.max(1, among))
}

export function openAtRest(dir: string): Promise<CatalogueDesk> {
  return openFor(dir, 1)
}

async function openFor(dir: string, cpuShare: number): Promise<CatalogueDesk> {
  const catalogue = await openCatalogue(dir, { cpuShare })
  await catalogue.advance(FIRST_LOOK_MS)
  return catalogue
}
