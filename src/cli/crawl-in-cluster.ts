// portolan crawl --nats: sets a crawl up that others may join, and takes part in it as its first node.

import { availableParallelism, hostname } from 'node:os'
import { initCluster, nodeNameOf } from '../cluster/index.ts'
import type { Problem } from '../config/index.ts'
import { checkEngine, connectEngine, type Engine, type EngineSettings } from '../engine/index.ts'
import { hostKeyOf } from '../url/index.ts'
import { newDefinition } from './cluster.ts'
import { checkName, engineSettingsOf, ownSettings, sharedSettings, withoutOwn } from './cluster-access.ts'
import { EXIT } from './command.ts'
import { printProblems } from './config-flags.ts'
import { logText } from './log-lines.ts'
import { runNode } from './node.ts'
import type { CrawlRequest } from './run-crawl.ts'
import { mergeSaid } from './stored-settings.ts'

export interface ClusterWishes {
  /** What the crawl is called; after the first seed where nothing is said. */
  readonly crawl: string | undefined
  readonly name: string | undefined
  readonly shares: number
}

export async function crawlInCluster(request: CrawlRequest, wishes: ClusterWishes): Promise<number> {
  const problems: Problem[] = []
  const { config, seeds, said, stored, dir, progress, isJson } = request
  const [first] = seeds
  const crawl = wishes.crawl ?? (first === undefined ? undefined : hostKeyOf(first).replaceAll(/[^A-Za-z0-9_-]/g, '-'))
  const access = engineSettingsOf(config, crawl, problems)
  const name = wishes.name ?? nodeNameOf(hostname())
  checkName(name, problems)
  // What was said of this machine holds for this node, whoever set the crawl up.
  const own = ownSettings(mergeSaid(stored, said))
  const settings = sharedSettings(withoutOwn(mergeSaid(stored, said)), problems)
  if (access === null || problems.length > 0) {
    printProblems('crawl', problems)
    return EXIT.usage.code
  }
  const engine = await connectEngine(access.settings)
  try {
    const said = { shares: wishes.shares, assignment: 'rendezvous', settings, seeds }
    const isNew = seeds.length > 0 && (await setUp(engine, access.settings, said))
    if (progress !== 'none') {
      const { crawl: called, servers } = access.settings
      logText(
        'crawl',
        isNew
          ? `Crawl ${called} is set up. Others join with: portolan node --join ${servers[0] ?? ''} --crawl ${called}\n`
          : `Crawl ${called} was set up before, and goes on as it was meant then.\n`,
      )
    }
  } finally {
    await engine.close()
  }
  return runNode({
    engine: { ...access.settings, node: name },
    name,
    dir,
    weight: availableParallelism(),
    flags: new Map(),
    own,
    progress,
    isJson,
    warnings: access.warnings,
  })
}

/** False where a crawl of this name is there. */
async function setUp(
  engine: Engine,
  settings: EngineSettings,
  said: Parameters<typeof newDefinition>[0],
): Promise<boolean> {
  if ((await engine.records.get('crawl')) !== null) return false
  await checkEngine(settings, said.shares)
  await initCluster(engine, newDefinition(said))
  return true
}
