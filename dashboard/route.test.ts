// An address leads to where it was made.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hrefOf, parseRoute } from './route.ts'

test('whatever a crawl, a host or a URL is called, its address leads to it', () => {
  const name = fc.string({ minLength: 1, unit: 'grapheme' })
  fc.assert(
    fc.property(
      name,
      fc.constantFrom('pages', 'hosts'),
      fc.option(name),
      fc.dictionary(name, name),
      (crawl, view, thing, query) => {
        expect(parseRoute(hrefOf(crawl, view, thing, query))).toEqual({ crawl, view, thing, query })
      },
    ),
  )
})

test('what leads nowhere leads to the list of crawls', () => {
  for (const fragment of ['', '#', '#/', '#/c', '#/c/', '#nonsense', '#/%E0%A4%A'])
    expect(parseRoute(fragment).crawl).toBeNull()
})
