// Redirects that lead nowhere, everywhere, or where nobody should go.

import { answer, type Behaviours, htmlAnswer, says } from './behaviour.ts'

const family = 'redirect'
const FOUND = 'HTTP/1.1 302 Found\r\n'

function to(...locations: string[]): Buffer {
  return answer(locations.map((location) => `Location: ${location}\r\n`).join(''), '', FOUND)
}

/** The root links to a redirect to each of these; behind them is a plain page. */
function each(locations: readonly ((home: string) => string)[]): Behaviours[string]['act'] {
  return says(({ path, home }) => {
    const number = /^\/r(\d+)$/.exec(path)?.[1]
    const location = number === undefined ? undefined : locations[Number(number)]
    if (location !== undefined) return to(location(home))
    if (path !== '/') return htmlAnswer(`<p>Here is ${path.replaceAll(/[<&]/g, '')}.`)
    return htmlAnswer(locations.map((_, i) => `<a href="/r${i}">${i}</a>`).join(' '))
  }, 'keep')
}

const path = (text: string) => (): string => text

export const REDIRECTS: Behaviours = {
  'redirect-loop': { family, does: 'leads to itself', act: says(({ home }) => to(`${home}/`), 'keep') },
  'redirect-chain': {
    family,
    does: 'leads on for ever, to another place each time',
    act: says(({ path: here, home }) => to(`${home}/hop${Number(/\d+$/.exec(here)?.[0] ?? 0) + 1}`), 'keep'),
  },
  'redirect-two-locations': {
    family,
    does: 'leads to two places',
    act: says(({ home }) => to(`${home}/one`, `${home}/two`), 'keep'),
  },
  'redirect-same-locations': {
    family,
    does: 'leads to the same place twice',
    act: says(({ path: here, home }) => (here === '/' ? to(`${home}/plain`, `${home}/plain`) : htmlAnswer('')), 'keep'),
  },
  'redirect-no-location': {
    family,
    does: 'leads nowhere',
    act: says(answer('', '', 'HTTP/1.1 301 Moved\r\n'), 'keep'),
  },
  'redirect-empty-location': { family, does: 'leads to an empty Location', act: says(to(''), 'keep') },
  'redirect-other-scheme': {
    family,
    does: 'leads out of the web: gopher:, file:, javascript:, data:',
    act: each([
      path('gopher://127.0.0.1/'),
      path('file:///etc/passwd'),
      path('javascript:alert(1)'),
      path('data:text/html,hello'),
    ]),
  },
  'redirect-relative': {
    family,
    does: 'leads on by path, by host, by query, by dots and by fragment alone',
    act: each([
      path('/by-path'),
      (home) => `${home.slice(home.indexOf('/'))}/by-host`,
      path('?by=query'),
      path('../../by/../dots'),
      path('#fragment'),
      path('by-name'),
    ]),
  },
  'redirect-space': {
    family,
    does: 'leads on with blanks, UTF-8 and Latin-1 in its Location',
    act: each([path('/with blanks'), path('/with-\xc3\xbcmlaut'), path('/with-\xfcmlaut')]),
  },
  'redirect-to-private-ip': {
    family,
    does: 'leads to private addresses',
    // Where nothing listens, and of this machine: whoever crawls this web with --allow-private asks nobody else.
    act: each([path('http://127.255.255.254:9/'), path('http://[::1]:9/'), path('http://[::ffff:127.255.255.254]:9/')]),
  },
  'meta-refresh-loop': {
    family,
    does: 'a page that leads to itself at once',
    act: says(({ home }) => htmlAnswer(`<meta http-equiv="refresh" content="0; url=${home}/">`), 'keep'),
  },
}
