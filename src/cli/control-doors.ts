// How a crawl that runs here can be reached: by its socket always, by the dashboard over TCP where that was asked for. What serves is
// loaded when somebody knocks, or at once for a dashboard.

import { randomBytes } from 'node:crypto'
import {
  type ConnectionTaker,
  ControlSocket,
  type CrawlSource,
  type CrawlSources,
  loadRunningCrawl,
  loadServer,
  type SteeredCrawl,
} from '../control/index.ts'

export interface ControlDoors {
  close(): Promise<void>
}

/** A crawl never fails because of them: `warn` is told, and it goes on. */
export async function openDoors(
  steered: SteeredCrawl,
  dashboardPort: number | null,
  tell: (line: string) => void,
  warn: (fault: unknown) => void,
): Promise<ControlDoors> {
  let source: Promise<CrawlSource & { close(): Promise<void> }> | null = null
  const sourceOnce = (): Promise<CrawlSource & { close(): Promise<void> }> => {
    source ??= loadRunningCrawl().then(({ RunningCrawl }) => new RunningCrawl(steered))
    return source
  }
  const sources: CrawlSources = {
    list: async () => [await sourceOnce()],
    find: async (id) => {
      const one = await sourceOnce()
      return one.id === id ? one : null
    },
    create: null,
  }
  const socket = await ControlSocket.open(
    steered.dir,
    async (): Promise<ConnectionTaker> =>
      (await loadServer()).createServer(sources, { auth: 'none', hasDashboard: false }),
    warn,
  )
  const dashboard = dashboardPort === null ? null : await serveDashboard(sources, dashboardPort, tell).catch(warn)
  return {
    close: async () => {
      await socket?.close()
      await dashboard?.close().catch(warn)
      await source?.then((one) => one.close()).catch(warn)
    },
  }
}

async function serveDashboard(
  sources: CrawlSources,
  port: number,
  tell: (line: string) => void,
): Promise<ControlDoors> {
  const token = randomBytes(24).toString('base64url')
  const server = await (await loadServer()).createServer(sources, { auth: { token }, hasDashboard: true })
  const { link } = await server.listen('127.0.0.1', port)
  tell(`Dashboard: ${link}`)
  return server
}
