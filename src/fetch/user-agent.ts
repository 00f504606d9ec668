// How we introduce ourselves to servers.

import type { FetchOptions } from './options.ts'

/** Must agree with package.json; a test compares them. */
const PRODUCT = 'Portolan/0.1.0'

/** What the User-Agent header says: who, and where to complain. */
export function userAgentOf(options: Pick<FetchOptions, 'userAgent' | 'contact'>): string {
  if (options.userAgent !== '') return options.userAgent
  const contact = options.contact === '' ? 'the operator of this machine' : options.contact
  return `${PRODUCT} (polite web crawler; contact: ${contact})`
}
