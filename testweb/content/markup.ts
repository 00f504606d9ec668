// Links and text to HTML. Hot: more than ten thousand pages a second are written here.

import { Random } from '../../src/base/index.ts'
import type { Language } from './filler.ts'
import type { Link } from './link.ts'
import type { Paper } from './paper.ts'

export interface PageText {
  readonly title: string
  readonly language: Language
  /** Inside <head>, after the title. */
  readonly head: string
  readonly links: readonly Link[]
  /** The first of the links are in here already, and written. */
  readonly frame: { readonly links: { readonly length: number }; readonly markup: string }
  readonly hash: number
  /** Aimed at by the amount of filler; a page whose links alone are longer is longer. */
  readonly bytes: number
  readonly isFrameset: boolean
}

/** Sizes relative to the mean, all equally likely; they add up to 16, so that the mean is kept. */
const SIZE_FACTORS = [0.17, 0.28, 0.37, 0.45, 0.53, 0.61, 0.7, 0.8, 0.9, 1, 1.12, 1.26, 1.44, 1.7, 2.17, 2.5]

const END = '</p>\n</body>\n</html>\n'

export function pageBytes(meanBytes: number, hash: number): number {
  return Math.round(meanBytes * (SIZE_FACTORS[(hash >>> 20) & 15] as number))
}

export function writePage(page: PageText, paper: Paper): void {
  const { links, hash, language } = page
  const random = new Random(hash ^ 0x5eed)
  let head = `<!DOCTYPE html>\n<html lang="${language}">\n<head>\n${page.head}<title>${page.title}</title>\n`
  const body: string[] = []
  let bodyChars = 0
  for (let i = page.frame.links.length; i < links.length; i++) {
    const link = links[i] as Link
    if (link.kind === 'refresh') head += `<meta http-equiv="refresh" content="5; url=${escapeAttribute(link.href)}">\n`
    else if (link.kind === 'link') head += linkElement(link)
    else {
      const element = writeElement(link, random)
      body.push(element)
      bodyChars += element.length
    }
  }
  if (page.isFrameset) {
    paper.text(`${head}</head>\n<frameset cols="*">\n${body.join('')}</frameset>\n</html>\n`)
    return
  }

  head += '</head>\n<body>\n'
  const heading = `<h1>${page.title.replaceAll('<', '&lt;')}</h1>\n<p>`
  const markupChars = head.length + page.frame.markup.length + heading.length + bodyChars + END.length
  const fillerChars = Math.floor((page.bytes - markupChars) / (body.length + 1))
  paper.text(head)
  paper.text(page.frame.markup)
  paper.text(heading)
  paper.filler(language, hash, fillerChars)
  for (const element of body) {
    paper.text(element)
    paper.filler(language, random.next32(), fillerChars)
  }
  paper.text(END)
}

function writeElement(link: Link, random: Random): string {
  const url = escapeAttribute(link.href)
  switch (link.kind) {
    case 'a':
      return writeAnchor(url, link, random)
    case 'area':
      return `<map name="m"><area shape="rect" coords="0,0,9,9" href="${url}"></map>`
    case 'frame':
      return `<frame src="${url}">\n`
    case 'iframe':
      return `<iframe src="${url}" width="9" height="9"></iframe>`
    case 'img':
      return random.below(2) === 0 ? `<img src="${url}" alt="">` : `<img srcset="${url} 2x" alt="">`
    case 'script':
      return `<script src="${url}"></script>`
    case 'form':
      return `<form method="get" action="${url}"><input name="q"></form>`
    case 'object':
      return `<object data="${url}"></object>`
    case 'media':
      return `<video src="${url}"></video>`
    default:
      return ''
  }
}

function writeAnchor(url: string, link: Link, random: Random): string {
  if (link.isNofollow) return `<a rel="external nofollow" href="${url}">more</a>`
  const roll = random.next32()
  // Some in single quotes, some in none where the href allows it.
  if ((roll & 15) === 0 && !url.includes("'")) return `<A class=x HREF='${url}'>more</A>`
  if ((roll & 15) === 1 && /^[\w/.#:-]+$/.test(url)) return `<a href=${url} >more</a>`
  return `<a href="${url}">more</a></p>\n<p>`
}

function linkElement(link: Link): string {
  const url = escapeAttribute(link.href)
  const path = link.url ?? ''
  if (path.endsWith('.css')) return `<link rel="stylesheet" href="${url}">\n`
  if (path.endsWith('.rss')) return `<link rel="alternate" type="application/rss+xml" href="${url}">\n`
  if (path.endsWith('.atom')) return `<link rel="alternate" type="application/atom+xml" href="${url}">\n`
  if (path.endsWith('/sitemap.xml')) return `<link rel="sitemap" type="application/xml" href="${url}">\n`
  return `<link rel="next" href="${url}">\n`
}

/** For attributes and XML text. No href of this web holds a quote or an angle bracket. */
export function escapeAttribute(text: string): string {
  // Most have nothing to escape, and looking is cheaper than replacing.
  return text.includes('&') ? text.replaceAll('&', '&amp;') : text
}
