// Options of a crawl on several machines: which are a machine's own, and what must not be stored for all to read.

import { printable } from '../report/index.ts'
import type { Problem } from './problem.ts'
import type { Said } from './stored-settings.ts'

/** Options that are about a machine and not about the crawl. */
const OWN_OPTIONS: ReadonlySet<string> = new Set(['memory', 'connections', 'dns', 'proxy'])
/** Headers whose values are secrets wherever they are sent. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization', 'cookie'])

/** Whether an option is said to a node, and holds there alone. */
export function isOwnOption(flag: string | undefined): boolean {
  return flag !== undefined && (OWN_OPTIONS.has(flag) || flag === 'nats' || flag.startsWith('nats-'))
}

/** What of these options would be a secret in the engine, which all nodes and all operators read. */
export function sharedSecrets(said: Said): Problem[] {
  const problems: Problem[] = []
  const { headers, proxy, logins } = said['fetch'] ?? {}
  const secret = Object.keys(headers ?? {}).find((name) => SECRET_HEADERS.has(name.toLowerCase()))
  if (secret !== undefined) {
    problems.push({
      where: 'fetch.headers',
      what: `${printable(secret)} would be stored in the engine for all to read; a login is named by a variable (fetch.logins)`,
    })
  }
  if (typeof proxy === 'string' && /\/\/[^/]*@/.test(proxy)) {
    problems.push({
      where: '--proxy',
      what: 'its password would be stored in the engine for all to read; say it to each node: portolan node --proxy',
    })
  }
  if (Array.isArray(logins) && logins.some((one: { readonly password?: string }) => one.password !== undefined)) {
    problems.push({
      where: 'fetch.logins',
      what: 'a password would be stored in the engine for all to read; name it by a variable, and set that on every node',
    })
  }
  return problems
}
