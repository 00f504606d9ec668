// --nats URL --crawl NAME, and how the engine is reached: for commands that look at a directory, or at a cluster instead.

import { type FlagShape, type FlagValue, type Problem, readConfig, SECTIONS } from '../config/index.ts'
import type { EngineSettings } from '../engine/index.ts'
import { engineSettingsOf } from './cluster-access.ts'
import { crawlFlagShapes, VALUED } from './config-flags.ts'

export function clusterFlagShapes(): Map<string, FlagShape> {
  const access = [...crawlFlagShapes()].filter(([flag]) => flag === 'nats' || flag.startsWith('nats-'))
  return new Map([...access, ['crawl', VALUED]])
}

/** Null where no cluster is named. Takes its flags out of `flags`; complaints go to `problems`. */
export function readClusterFlags(
  flags: Map<string, FlagValue>,
  problems: Problem[],
): { readonly settings: EngineSettings; readonly warnings: readonly string[] } | null {
  const own = new Map<string, FlagValue>()
  for (const flag of clusterFlagShapes().keys()) {
    const value = flags.get(flag)
    if (value !== undefined) own.set(flag, value)
    flags.delete(flag)
  }
  if (own.size === 0) return null
  const crawl = own.get('crawl') as string | undefined
  own.delete('crawl')
  const result = readConfig(SECTIONS, { flags: own, environment: process.env, file: null })
  if (result.kind === 'config') return engineSettingsOf(result.config, crawl, problems)
  problems.push(...result.problems)
  return null
}
