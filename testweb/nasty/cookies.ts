// Cookies that are not the server's to set, or too many.

import { type Behaviours, htmlAnswer, says } from './behaviour.ts'

const family = 'cookie'

/** The root sets cookies and links to a page that shows what comes back. */
function sets(...cookies: string[]): Behaviours[string]['act'] {
  const headers = cookies.map((cookie) => `Set-Cookie: ${cookie}\r\n`).join('')
  return says(({ path }) => htmlAnswer('<a href="/next">next</a>', path === '/' ? headers : ''), 'keep')
}

export const COOKIES: Behaviours = {
  'cookie-tld': {
    family,
    does: 'cookies for whole public suffixes',
    act: sets('a=1; Domain=.com', 'b=2; Domain=co.uk', 'c=3; Domain=test'),
  },
  'cookie-huge': {
    family,
    does: 'a cookie of 8 kB and 200 small ones',
    act: sets(`big=${'v'.repeat(8_192)}`, ...Array.from({ length: 200 }, (_, i) => `c${i}=${'v'.repeat(100)}`)),
  },
  'cookie-secure-override': {
    family,
    does: 'overwrites a Secure cookie in the clear',
    act: sets('token=overwritten; Path=/', 'other=1; Secure'),
  },
  'cookie-other-domain': {
    family,
    does: 'cookies for other hosts',
    act: sets('a=1; Domain=example.com', 'b=2; Domain=127.0.0.1', 'c=3; Path=/elsewhere'),
  },
}
