// What an agent does, before it runs, about WARC files that are lost with the node that wrote them (src/cluster/lost-nodes.ts): looks
// what its pages had there, forgets contents that are lost, and puts pages back in line. Loaded only where a node was lost.
//
//   pages.jsonl ── in a file of the lost node? ── on the shelf? ──▶ safe
//                                                     └ no ───────▶ a filter of captures ─▶ object, for all shares

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { Crawl, type CrawlPlan, LostCaptures } from '../agent/index.ts'
import { type Clock, Fault, Random } from '../base/index.ts'
import { type LostFound, type LostNode, LostProgress, noteLostStep } from '../cluster/index.ts'
import { connectEngine, type Engine, type Objects } from '../engine/index.ts'
import { folderOf, openShelf, type Shelf } from '../shelf/index.ts'
import { finishedFiles, type PageRecord, readPlacedLines, writerOf } from '../store/index.ts'
import type { AgentOrders, ClusterOrders } from './agent-messages.ts'
import { ClusteredAgent, type Seat } from './clustered-agent.ts'
import { loadLost, storeLost } from './lost-object.ts'

/** Files of the lost node that the shelf is asked about, for one share. Those beyond are taken for lost. */
const FILES_MAX = 100_000

export interface LostPlan {
  readonly orders: AgentOrders
  readonly cluster: ClusterOrders
  readonly clock: Clock
  /** As it is opened to run, but for what a cluster adds. */
  readonly plan: CrawlPlan
  readonly seat: Seat
}

/** Does what can be done now, of all nodes that are lost; the rest when the share is opened next. Gives what people should know. */
export async function seeToLost(plan: LostPlan): Promise<readonly string[]> {
  const { orders, cluster } = plan
  const said: string[] = []
  const engine = await connectEngine(cluster.engine)
  try {
    for (const lost of cluster.lost) {
      for (;;) {
        const progress = await LostProgress.read(engine, lost, orders.agents)
        const step = progress.nextOf(orders.agent)
        if (step === null) break
        if (step === 'find') {
          const found = await find(plan, engine, lost)
          await noteLostStep(engine, lost, orders.agent, { step, found })
          continue
        }
        const captures = await allCaptures(engine.objects, progress, orders.agents)
        if (step === 'forget') {
          await inCrawl(plan, (crawl) => crawl.forgetLost(captures))
          await noteLostStep(engine, lost, orders.agent, { step })
          continue
        }
        const isGone = await goneOf(engine.objects, progress.objectOf(orders.agent), lost)
        const pages = await inCrawl(plan, (crawl) => crawl.requeueLost(isGone, captures))
        await noteLostStep(engine, lost, orders.agent, { step, pages })
        if (pages > 0)
          said.push(`${pages} pages wait again, for they were archived by node ${lost.node}, which is lost`)
      }
    }
  } catch (fault) {
    // A shelf that does not answer holds nobody up: it is asked again another time.
    if (!isOfShelf(fault)) throw fault
    said.push(`which files of lost nodes are safe is not known yet: ${(fault as Fault).message}`)
  } finally {
    await engine.close().catch(() => {})
  }
  return said
}

async function find({ orders, cluster, clock }: LostPlan, engine: Engine, { node }: LostNode): Promise<LostFound> {
  // Makes the directory what the log says; nobody works in it now.
  const agent = await ClusteredAgent.open(orders, cluster, clock)
  await agent.close()
  const { dir, crawlDir } = orders
  const own = node === cluster.held.node ? await finishedFiles(crawlDir) : null
  const shelf = await shelfOf({ orders, cluster, clock })
  const [safe, gone] = [new Set<string>(), new Set<string>()]
  const counts = { safePages: 0, gonePages: 0 }
  const captures = new LostCaptures()
  try {
    for await (const { record } of linesIn(join(dir, 'pages.jsonl'))) {
      const file = record.warc?.file
      if (file === undefined || writerOf(file)?.node !== node) continue
      if (!safe.has(file) && !gone.has(file) && safe.size + gone.size < FILES_MAX) {
        const isHere = own !== null && (own.finished.has(file) || own.open.has(file))
        const isSafe = isHere || (await isOnShelf(shelf, file))
        ;(isSafe ? safe : gone).add(file)
      }
      counts[safe.has(file) ? 'safePages' : 'gonePages']++
      if (!safe.has(file)) captures.addPage(record)
    }
  } finally {
    shelf?.close()
  }
  const isNothing = counts.gonePages === 0
  const object = isNothing ? null : `lost.${orders.agent}.${randomBytes(6).toString('hex')}`
  if (object !== null) await storeLost(engine.objects, object, { safe: [...safe], gone: [...gone] }, captures.bytes)
  return { safeFiles: safe.size, goneFiles: gone.size, ...counts, object }
}

async function isOnShelf(shelf: Shelf | null, file: string): Promise<boolean> {
  return shelf !== null && (await shelf.has(file, new AbortController().signal))
}

function shelfOf({ orders, cluster, clock }: Pick<LostPlan, 'orders' | 'cluster' | 'clock'>): Promise<Shelf> | null {
  if (cluster.shelf.to === '') return null
  return openShelf({
    options: cluster.shelf,
    folder: folderOf(orders.identity),
    environment: orders.environment,
    clock,
    random: new Random(randomBytes(4).readInt32LE()),
  })
}

/** Opens the share, without running it. */
async function inCrawl<T>(
  { orders, cluster, clock, plan, seat }: LostPlan,
  work: (crawl: Crawl) => Promise<T>,
): Promise<T> {
  const agent = await ClusteredAgent.open(orders, cluster, clock)
  try {
    const crawl = await Crawl.open({ ...agent.planOf(plan, seat), notesLost: true })
    try {
      return await work(crawl)
    } finally {
      await crawl.close()
    }
  } finally {
    await agent.close()
  }
}

async function goneOf(objects: Objects, object: string | null, { node }: LostNode): Promise<(file: string) => boolean> {
  if (object === null) return () => false
  const safe = new Set((await loadLost(objects, object)).files.safe)
  return (file) => writerOf(file)?.node === node && !safe.has(file)
}

/** Of all shares: what one has lost may be the original of another's page. */
async function allCaptures(objects: Objects, progress: LostProgress, shares: number): Promise<LostCaptures> {
  const all = new LostCaptures()
  for (let share = 0; share < shares; share++) {
    const object = progress.objectOf(share)
    if (object !== null) all.join(new LostCaptures(await (await loadLost(objects, object)).filter()))
  }
  return all
}

/** None where a share has no pages yet. */
async function* linesIn(path: string): AsyncGenerator<{ readonly record: PageRecord }> {
  try {
    yield* readPlacedLines<PageRecord>(path)
  } catch (fault) {
    const isMissing = fault instanceof Fault && (fault.cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
    if (!isMissing) throw fault
  }
}

function isOfShelf(fault: unknown): boolean {
  return fault instanceof Fault && fault.code.startsWith('SHELF_')
}
