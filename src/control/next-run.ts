// How the next run of a crawl at rest would be meant, by what its directory says.

import { Fault } from '../base/index.ts'
import { type CrawlConfig, loadSettings, readConfig, type Said, SECTIONS } from '../config/index.ts'
import type { CrawlInfo } from './api.ts'
import { loadSteering } from './kept-steering.ts'
import { checkChange, limitsOf } from './option-changes.ts'
import { FieldsFault } from './refusals.ts'

export interface Meant {
  readonly said: Said
  readonly config: CrawlConfig
}

/** By its settings alone. */
export async function meantBySettings(dir: string): Promise<Meant> {
  const said = (await loadSettings(dir)) ?? {}
  const file = { name: 'the settings of the crawl', content: said }
  const result = readConfig(SECTIONS, { flags: new Map(), environment: {}, file })
  if (result.kind === 'config') return { said, config: result.config }
  throw new FieldsFault(result.problems)
}

/** Under the limits of its last run, where it is told no others. */
export async function nextRun(dir: string): Promise<Meant> {
  const { said } = await meantBySettings(dir)
  const { limits } = await loadSteering(dir)
  return checkChange(said, { agent: limits })
}

/** Left out where its settings cannot be read: whoever asks for them, or starts it, is told why. */
export async function limitsAtRest(dir: string): Promise<Pick<CrawlInfo, 'limits'>> {
  try {
    return { limits: limitsOf((await nextRun(dir)).config) }
  } catch (fault) {
    if (fault instanceof Fault) return {}
    throw fault
  }
}
