// Where one is, in the fragment of the address: #/c/CRAWL/VIEW/THING?filter=…  Back, forward and bookmarks work, and no server needs to know.

import { Store } from './talk/store.ts'

export interface Route {
  /** Null: the list of crawls. */
  readonly crawl: string | null
  readonly view: string
  /** What is looked at closer: a host, a URL. */
  readonly thing: string | null
  readonly query: Readonly<Record<string, string>>
}

export function parseRoute(fragment: string): Route {
  const [path = '', search = ''] = fragment.replace(/^#/, '').split('?', 2)
  const query = Object.fromEntries(new URLSearchParams(search))
  const [, kind, crawl, view, thing] = path.split('/').map(decoded)
  if (kind !== 'c' || crawl === undefined || crawl === '') return { crawl: null, view: 'crawls', thing: null, query }
  return { crawl, view: view === undefined || view === '' ? 'overview' : view, thing: thing ?? null, query }
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function hrefOf(
  crawl: string | null,
  view = 'overview',
  thing: string | null = null,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const given = Object.entries(query).filter((pair): pair is [string, string] => (pair[1] ?? '') !== '')
  const search = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
  if (crawl === null) return `#/${search}`
  const parts = ['#/c', encodeURIComponent(crawl), view, ...(thing === null ? [] : [encodeURIComponent(thing)])]
  return parts.join('/') + search
}

export const route = new Store<Route>(parseRoute(''))

export function followRoutes(): void {
  const read = (): void => route.set(parseRoute(location.hash))
  addEventListener('hashchange', read)
  read()
}

export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') location.hash = href
  else {
    history.replaceState(null, '', href)
    route.set(parseRoute(href))
  }
}
