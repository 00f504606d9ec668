// Numbered pages that are not HTML.

import { Random } from '../../src/base/index.ts'
import type { LinkKind } from '../../src/parse/index.ts'
import { Answer } from './answer.ts'
import type { Resource } from './layout.ts'
import { type Link, PlaceLink } from './link.ts'
import { escapeAttribute } from './markup.ts'
import type { PageLinks } from './page-links.ts'
import { baseAt, writeHref } from './writing.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const PDF = Buffer.from('%PDF-1.4\n%\xE2\xE3\xCF\xD3\n', 'latin1')

const STYLE_LINKS = 5
const FEED_LINKS = 10

/** Null for the variants that are HTML. */
export function otherMedia(resource: Resource, pageLinks: PageLinks): Answer | null {
  switch (resource.variant) {
    case 'image':
      return unique('image/png', PNG, resource)
    case 'pdf':
      return unique('application/pdf', PDF, resource)
    case 'script':
      return plainText('text/javascript', `export const page = ${resource.number} // ${resource.hash}\n`)
    case 'text':
      return plainText('text/plain', `Page ${resource.number}. No link: ${resource.host.origin}/not-linked\n`)
    case 'style':
      return style(someLinks(resource, pageLinks, STYLE_LINKS, 'css'))
    case 'rss':
    case 'atom':
      return feed(resource.variant, someLinks(resource, pageLinks, FEED_LINKS, 'feed'))
    default:
      return null
  }
}

/** Bytes unlike those of any other page: a name behind the end does no harm to these formats. */
function unique(type: string, start: Uint8Array, { hash, host, number }: Resource): Answer {
  return new Answer(200, type, [], (paper) => {
    paper.bytes(start)
    paper.text(`${hash.toString(16)} ${host.name} ${number}`)
  })
}

function plainText(type: string, text: string): Answer {
  return new Answer(200, type, [], (paper) => paper.text(text))
}

function style(links: readonly Link[]): Answer {
  return new Answer(200, 'text/css', links, (paper) => {
    paper.text('/* url(/not-a-link.png) */\n')
    links.forEach(({ href }, i) => {
      if (i === 0) paper.text(`@import "${href}";\n`)
      else if (i % 2 === 0) paper.text(`.c${i} { background: url("${href}") }\n`)
      else paper.text(`.c${i} { background: url( ${href} ) }\n`)
    })
  })
}

function feed(format: 'rss' | 'atom', links: readonly Link[]): Answer {
  return new Answer(200, `application/${format}+xml`, links, (paper) => {
    const isRss = format === 'rss'
    paper.text('<?xml version="1.0"?>\n')
    paper.text(isRss ? '<rss version="2.0"><channel>' : '<feed xmlns="http://www.w3.org/2005/Atom">')
    paper.text('<title>News</title>\n')
    for (const link of links) {
      const url = escapeAttribute(link.url ?? '')
      if (isRss) paper.text(`<item><title>x</title><link>${url}</link></item>\n`)
      else paper.text(`<entry><title>x</title><link href="${url}"/></entry>\n`)
    }
    paper.text(isRss ? '</channel></rss>\n' : '</feed>\n')
  })
}

/** To pages of the same host, written plainly. */
function someLinks(resource: Resource, { targets }: PageLinks, count: number, kind: LinkKind): Link[] {
  const random = new Random(resource.hash)
  const found = targets.children(resource, count)
  while (found.length < count) found.push(targets.any(resource.host, 0, random))
  const from = baseAt(resource)
  return found.map((to) => new PlaceLink(kind, writeHref(from, to, 'plain', random), to, false))
}
