// What a browser would find in a page, by parse5's full tree: the oracle of the HTML scanner.
//
// It shares with the scanner only what has vectors of its own (srcset, meta refresh, CSS); how elements come
// to be, with which attributes and in which namespace, is parse5's word.

import { type DefaultTreeAdapterTypes, html, parse } from 'parse5'
import { cssLinks } from '../../src/parse/css.ts'
import { refreshUrl } from '../../src/parse/meta-refresh.ts'
import type { LinkKind } from '../../src/parse/parsed-page.ts'
import { srcsetUrls } from '../../src/parse/srcset.ts'

type Node =
  | DefaultTreeAdapterTypes.ChildNode
  | DefaultTreeAdapterTypes.Document
  | DefaultTreeAdapterTypes.DocumentFragment
type Element = DefaultTreeAdapterTypes.Element

export interface OraclePage {
  readonly links: { href: string; kind: LinkKind; isNofollow: boolean }[]
  baseHref: string | null
  title: string | null
  language: string | null
  canonical: string | null
}

/** Parses `text` as a browser without scripts would, and walks the tree in document order. */
export function oraclePage(text: string): OraclePage {
  const page: OraclePage = { links: [], baseHref: null, title: null, language: null, canonical: null }
  // An explicit stack: hostile pages nest deeper than the call stack.
  const stack: Node[] = [parse(text, { scriptingEnabled: false })]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if ('tagName' in node) element(node, page)
    const isShadow = 'tagName' in node && /^(?:open|closed)$/i.test(attribute(node, 'shadowrootmode') ?? '')
    const children = isShadow && 'content' in node ? node.content.childNodes : childrenOf(node)
    for (let index = children.length - 1; index >= 0; index--) stack.push(children[index] as Node)
  }
  return page
}

/** The links with `href` resolved as the page would, fragments gone, without repetition, in document order. */
export function resolvedLinks(
  links: readonly { href: string; kind: string }[],
  baseHref: string | null,
  url: string,
): string[] {
  const base = (baseHref === null ? null : URL.parse(baseHref, url)?.href) ?? url
  const found = new Set<string>()
  for (const { href, kind } of links) {
    const resolved = URL.parse(href, base)
    if (resolved === null) continue
    resolved.hash = ''
    found.add(`${kind} ${resolved.href}`)
  }
  return [...found]
}

function childrenOf(node: Node): readonly Node[] {
  return 'childNodes' in node ? node.childNodes : []
}

function attribute(node: Element, name: string): string | null {
  for (const { name: key, prefix, value } of node.attrs) {
    const full = prefix === undefined || prefix === '' ? key : `${prefix}:${key}`
    if (full.toLowerCase() === name) return value
  }
  return null
}

function trimmed(value: string): string {
  return value.replace(/^[\t\n\f\r ]+|[\t\n\f\r ]+$/g, '')
}

function textOf(node: Element): string {
  return node.childNodes.map((child) => ('value' in child ? child.value : '')).join('')
}

function element(node: Element, page: OraclePage): void {
  const get = (name: string): string | null => {
    const value = attribute(node, name)
    return value === null ? null : trimmed(value)
  }
  const isNofollow = (get('rel') ?? '')
    .toLowerCase()
    .split(/[\t\n\f\r ]+/)
    .includes('nofollow')
  const add = (href: string | null, kind: LinkKind, mayBeEmpty = false): void => {
    if (href === null || (href === '' && !mayBeEmpty)) return
    page.links.push({ href, kind, isNofollow: ['a', 'area', 'link'].includes(kind) && isNofollow })
  }
  const css = (text: string): void => {
    for (const url of cssLinks(text)) if (!url.startsWith('#')) add(url, 'css')
  }
  // A template is not displayed, so its own style loads nothing; unless it is a shadow root, whose style we count.
  const style = node.tagName === 'template' && get('shadowrootmode') === null ? null : get('style')
  if (style !== null) css(style)

  if (node.namespaceURI !== html.NS.HTML) {
    const href = get('href') ?? get('xlink:href')
    if (node.tagName === 'a') add(href, 'a', true)
    else if (node.tagName === 'script') add(href, 'script')
    else if ((node.tagName === 'image' || node.tagName === 'use') && href?.startsWith('#') !== true) add(href, 'img')
    return
  }
  switch (node.tagName) {
    case 'a':
    case 'area':
      return add(get('href'), node.tagName, true)
    case 'link':
      add(get('href'), 'link')
      if (/(?:^|\s)canonical(?:\s|$)/i.test(get('rel') ?? '') && get('href') !== '') page.canonical ??= get('href')
      for (const url of srcsetUrls(get('imagesrcset') ?? '')) add(url, 'img')
      return
    case 'img':
    case 'source':
      add(get('src'), node.tagName === 'img' ? 'img' : 'media')
      for (const url of srcsetUrls(get('srcset') ?? '')) add(url, 'img')
      return
    case 'video':
      add(get('src'), 'media')
      return add(get('poster'), 'img')
    case 'audio':
    case 'track':
      return add(get('src'), 'media')
    case 'embed':
      return add(get('src'), 'object')
    case 'object':
      return add(get('data'), 'object')
    case 'script':
    case 'iframe':
    case 'frame':
      return add(get('src'), node.tagName)
    case 'input':
      return attribute(node, 'type')?.toLowerCase() === 'image' ? add(get('src'), 'img') : undefined
    case 'form':
      return /^(?:post|dialog)$/i.test(attribute(node, 'method') ?? '') ? undefined : add(get('action'), 'form')
    case 'body':
      return add(get('background'), 'img')
    case 'style':
      return css(textOf(node))
    case 'base':
      page.baseHref ??= get('href')
      return
    case 'title':
      page.title ??= trimmed(textOf(node).replace(/[\t\n\f\r ]+/g, ' '))
      return
    case 'html':
      page.language ??= (get('lang') ?? get('xml:lang'))?.toLowerCase() || null
      return
    case 'meta':
      if (attribute(node, 'http-equiv')?.toLowerCase() === 'refresh') add(refreshUrl(get('content') ?? ''), 'refresh')
      return
    default:
  }
}
