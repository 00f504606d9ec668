import { expect, test } from 'vitest'
import { Fault } from '../base/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import type { FetchRequest, SchemeFetcher } from './fetcher.ts'
import { SchemeFetchers } from './scheme-fetchers.ts'

/** Says which module was asked. */
function moduleOf(...schemes: string[]): SchemeFetcher & { calls: string[] } {
  const calls: string[] = []
  return {
    schemes,
    calls,
    fetch(request) {
      calls.push(request.url)
      return Promise.resolve({ kind: 'skipped', reason: 'robots', detail: schemes.join() })
    },
    forget: (host) => void calls.push(`forget ${host}`),
    close: () => Promise.resolve(void calls.push('close')),
  }
}
const request = (url: string): FetchRequest => ({
  url: url as CanonicalUrl,
  addresses: [],
  purpose: 'page',
  isLast: true,
  acceptPartial: false,
})
const { signal } = new AbortController()

test('a URL goes to the module of its scheme, and all are told of what concerns all', async () => {
  const web = moduleOf('http', 'https')
  const ftp = moduleOf('ftp')
  const fetchers = new SchemeFetchers([web, ftp], ['http', 'https', 'ftp'])
  for (const url of ['http://a.test/', 'https://a.test/', 'ftp://a.test/']) await fetchers.fetch(request(url), signal)
  fetchers.forget('a.test')
  await fetchers.close()
  expect(web.calls).toEqual(['http://a.test/', 'https://a.test/', 'forget a.test', 'close'])
  expect(ftp.calls).toEqual(['ftp://a.test/', 'forget a.test', 'close'])
})

test('a scheme without a module is a fault before the crawl begins, and a bug after', () => {
  expect(() => new SchemeFetchers([moduleOf('http')], ['http', 'gopher'])).toThrow(/gopher:.*known schemes are http/)
  expect(() => new SchemeFetchers([moduleOf('http')], ['http']).fetch(request('gopher://a.test/'), signal)).toThrow(
    Fault,
  )
})
