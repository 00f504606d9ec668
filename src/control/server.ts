// Serves the control API, and the dashboard's files, over whatever connections it is given.

import type { Socket } from 'node:net'
import { Fault } from '../base/index.ts'
import type { CrawlSources } from './crawl-source.ts'

export interface ServerOptions {
  /** 'none' on a unix socket only: whoever may open it may steer. */
  readonly auth: 'none' | { readonly token: string }
  /** Also the files of the dashboard. */
  readonly hasDashboard: boolean
}

export interface ControlServer {
  /** Takes over a connection that a listener elsewhere accepted. */
  take(socket: Socket): void
  /** Listens itself; port 0 chooses one. */
  listen(host: string, port: number): Promise<{ readonly port: number; readonly link: string }>
  close(): Promise<void>
}

export function createServer(_sources: CrawlSources, _options: ServerOptions): Promise<ControlServer> {
  return Promise.reject(new Fault('CONFIG_INVALID', 'the control API is not served yet'))
}
