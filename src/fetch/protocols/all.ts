// The protocols of a crawl, joined: one connector for all, since it reads the file of certificates, which may be a pipe.

import type { Clock } from '../../base/index.ts'
import type { Spool } from '../../document/index.ts'
import { Connector } from '../connector.ts'
import type { Fetcher } from '../fetcher.ts'
import { LateFetcher } from '../late-fetcher.ts'
import type { FetchOptions } from '../options.ts'
import { parseProxy } from '../proxy.ts'
import { SchemeFetchers } from '../scheme-fetchers.ts'
import { HttpFetcher } from './http.ts'

/** Schemes there is a module for. */
const SCHEMES = ['http', 'https', 'ftp', 'ftps', 'gopher', 'file'] as const

/** Throws a Fault when options cannot be honoured. `env` holds the passwords that options name by variable. */
export function openFetcher(
  options: FetchOptions,
  spool: Spool,
  clock: Clock,
  env: Readonly<Record<string, string | undefined>>,
  mayAsk?: () => boolean,
): Fetcher {
  const connector = new Connector(options, parseProxy(options.proxy), env)
  return new SchemeFetchers(
    [
      new HttpFetcher(options, spool, clock, env, connector, mayAsk),
      new LateFetcher(['ftp', 'ftps'], async () => {
        const { FtpFetcher } = await import('./ftp.ts')
        return new FtpFetcher(options, spool, clock, env, connector)
      }),
      new LateFetcher(['gopher'], async () => {
        const { GopherFetcher } = await import('./gopher.ts')
        return new GopherFetcher(options, spool, clock, connector)
      }),
      new LateFetcher(['file'], async () => {
        const { FileFetcher } = await import('./file.ts')
        return new FileFetcher(options, spool, clock)
      }),
    ],
    SCHEMES,
  )
}
