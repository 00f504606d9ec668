// How a crawl that runs here can be reached: by its socket always, by the dashboard over TCP where that was asked for. What serves is
// loaded when somebody knocks, or at once for a dashboard.

import { randomBytes } from 'node:crypto'
import { VERSION } from './version.ts'
import {
  type ConnectionTaker,
  ControlSocket,
  type CrawlSource,
  type CrawlSources,
  loadNodeAnswers,
  loadRunningCrawl,
  loadServer,
  type SteeredCrawl,
} from '../control/index.ts'
import type { ControlAnswer, ControlQuestion } from '../supervise/index.ts'
import type { CrawlRequest } from './crawl-job.ts'

type Source = CrawlSource & { close(): Promise<void> }

export interface ControlDoors {
  /** What others in a cluster ask of this node's part. */
  readonly answer?: (question: ControlQuestion) => Promise<ControlAnswer>
  close(): Promise<void>
}

/** A crawl never fails because of them: `warn` is told, and it goes on. */
export async function openDoors(
  steered: SteeredCrawl,
  dashboardPort: number | null,
  tell: (line: string) => void,
  warn: (fault: unknown) => void,
  cluster?: CrawlRequest['cluster'],
): Promise<ControlDoors> {
  let source: Promise<Source> | null = null
  const sourceOnce = (): Promise<Source> => {
    source ??= loadRunningCrawl().then(({ NodeRecords, RunningCrawl }) =>
      cluster?.shareDirs === undefined
        ? new RunningCrawl(steered)
        : new RunningCrawl(steered, new NodeRecords(steered.dir, cluster.shareDirs)),
    )
    return source
  }
  let whole: Promise<Source | null> | null = null
  /** The whole crawl of a cluster, of which this is a part; null where there is none, or the engine is away: the next who asks may have more luck. */
  const wholeOnce = async (): Promise<Source | null> => {
    whole ??= (cluster?.openSource?.() ?? Promise.resolve(null)).catch((fault: unknown) => {
      whole = null
      warn(fault)
      return null
    })
    return whole
  }
  const list = async (): Promise<Source[]> => {
    const [own, all] = [await sourceOnce(), await wholeOnce()]
    return all === null || all.id === own.id ? [all ?? own] : [all, own]
  }
  const sources: CrawlSources = {
    list,
    find: async (id) => (await list()).find((one) => one.id === id) ?? null,
    create: null,
  }
  const socket = await ControlSocket.open(
    steered.dir,
    async (): Promise<ConnectionTaker> =>
      (await loadServer()).createServer(sources, {
        auth: 'none',
        hasDashboard: false,
        version: VERSION,
        onBroken: warn,
      }),
    warn,
  )
  const dashboard = dashboardPort === null ? null : await serveDashboard(sources, dashboardPort, tell, warn).catch(warn)
  return {
    answer: async (question) => (await loadNodeAnswers()).answerForCluster(await sourceOnce(), question),
    close: async () => {
      await socket?.close()
      await dashboard?.close().catch(warn)
      await source?.then((one) => one.close()).catch(warn)
      await whole?.then((one) => one?.close()).catch(warn)
    },
  }
}

async function serveDashboard(
  sources: CrawlSources,
  port: number,
  tell: (line: string) => void,
  warn: (fault: unknown) => void,
): Promise<ControlDoors> {
  const token = randomBytes(24).toString('base64url')
  const { createServer } = await loadServer()
  const server = await createServer(sources, { auth: { token }, hasDashboard: true, version: VERSION, onBroken: warn })
  try {
    const { link } = await server.listen('127.0.0.1', port)
    // Once, and nowhere else: it holds the token.
    tell(`Dashboard: ${link}`)
    return server
  } catch (fault) {
    await server.close()
    throw fault
  }
}
