// What the scanner finds in a page, element by element and rule by rule. That this is what a browser finds
// is proven against parse5 in html-oracle.test.ts.

import { describe, expect, test } from 'vitest'
import { scanHtml } from './html.ts'
import { parseOptions } from './options.ts'
import type { ParsedPage } from './parsed-page.ts'

const options = parseOptions.parse({})

function scan(html: string, charset: string | null = 'utf-8'): ParsedPage {
  return scanHtml(Buffer.from(html), { charset }, options)
}

/** `kind href`, with `!` for nofollow. */
function links(html: string): string[] {
  return scan(html).links.map(({ kind, href, isNofollow }) => `${kind} ${href}${isNofollow ? '!' : ''}`)
}

describe('elements', () => {
  test.each([
    ['<a href=x>', ['a x']],
    ['<a name=x>', []],
    ['<a href>', ['a ']],
    ['<a href="">', ['a ']],
    ['<a href=x rel="external NoFollow">', ['a x!']],
    ['<a href=x rel=nofollowing>', ['a x']],
    ['<area href=x rel=nofollow>', ['area x!']],
    ['<link href=x rel=next>', ['link x']],
    ['<link href="" rel=next>', []],
    ['<link rel=preload imagesrcset="a 1x, b 2x">', ['img a', 'img b']],
    ['<img src=x srcset="y, z 2x">', ['img x', 'img y', 'img z']],
    ['<img src="">', []],
    ['<image src=x>', ['img x']],
    ['<script src=x></script>', ['script x']],
    ['<iframe src=x></iframe>', ['iframe x']],
    ['<frameset><frame src=x><frame src=y></frameset>', ['frame x', 'frame y']],
    ['<p><frame src=x>', []],
    ['<frameset></frameset><frame src=x>', []],
    ['<video src=x poster=y><source src=z><track src=t></video>', ['media x', 'img y', 'media z', 'media t']],
    ['<picture><source srcset="x 1x"><img src=y></picture>', ['img x', 'img y']],
    ['<audio src=x>', ['media x']],
    ['<embed src=x><object data=y></object>', ['object x', 'object y']],
    ['<input type=image src=x><input type=IMAGE src=y><input src=z>', ['img x', 'img y']],
    ['<form action=x>', ['form x']],
    ['<form action=x method=GET>', ['form x']],
    ['<form action=x method=nonsense>', ['form x']],
    ['<form action=x method=post>', []],
    ['<form action=x method=dialog>', []],
    ['<form action="">', []],
    ['<form action=x method=" post">', ['form x']],
    ['<meta http-equiv="refresh " content="5; url=x">', []],
    ['<form action=x><form action=y></form><form action=z>', ['form x', 'form z']],
    ['<meta http-equiv=Refresh content="5; url=x">', ['refresh x']],
    ['<meta http-equiv=refresh content="0">', []],
    ['<body background=x><body background=y>', ['img x']],
    ['<blockquote cite=x><q cite=x><img longdesc=x><a ping=x><td background=x><applet code=x>', []],
    ['<style>a { background: url(x) } @import "y";</style>', ['css x', 'css y']],
    ['<p style="background: url(&quot;x&quot;)">', ['css x']],
    ['<p style="color: red">', []],
    ['<p style=background:url(x)>', ['css x']],
    ['<img src=x style="fill: url(#gradient)">', ['img x']],
  ])('%s', (html, expected) => expect(links(html)).toEqual(expected))

  test('links come in document order and are not deduplicated', () => {
    expect(links('<a href=b><img src=a><a href=b>')).toEqual(['a b', 'img a', 'a b'])
  })
})

describe('tags', () => {
  test.each([
    ['names and attributes in any case', '<A HREF=x>', ['a x']],
    ['white space of all five kinds', '<a\thref\n=\f"x"\r >', ['a x']],
    ['values in apostrophes', "<a href='x\"y'>", ['a x"y']],
    ['values without quotes end at white space or >', '<a href=x/y title=z>', ['a x/y']],
    ['a slash before > belongs to a value without quotes', '<a href=x/>', ['a x/']],
    ['of two equal attributes the first holds', '<a href=x HREF=y>', ['a x']],
    ['no white space is needed after a quote', '<a class="c"href="x"id=i>', ['a x']],
    ['a quote inside a bare value opens nothing', '<p class=a"b><a href=x>', ['a x']],
    ['a quote inside a name opens nothing', '<p a"b="c>d"><a href=x>', ['a x']],
    ['an equals sign may begin a name', '<p ="><a href=x>', ['a x']],
    ['after two equals signs the value is bare', '<p a=="><a href=x>', ['a x']],
    ['a > in a quoted value does not end the tag', '<p title="a>b"><a title=">" href=x>', ['a x']],
    ['a tag in a quoted value is none', '<p title="<a href=y>"><a href=x>', ['a x']],
    ['a < inside a tag is part of a name', '<p <a href=y>', []],
    ['white space around a value is dropped', '<a href="\n x y\t">', ['a x y']],
    ['a < before anything but a letter is text', '< a href=y><1 href=z><a href=x>', ['a x']],
    ['an end tag may carry attributes', '</p title=">"><a href=x>', ['a x']],
    ['an end tag without a name is nothing', '</><a href=x></ ><a href=y>', ['a x', 'a y']],
    ['a tag the page ends in is none', '<a href=x><a href=y', ['a x']],
    ['an unclosed quote swallows the rest', '<a href=x><a href="y><a href=z>', ['a x']],
    ['names that only begin like ours are not ours', '<abbr href=x><linker href=x><imgx src=x>', []],
    ['a NUL is a replacement character', '<a href="x\0y">', ['a x\uFFFDy']],
  ])('%s', (_name, html, expected) => expect(links(html)).toEqual(expected))
})

describe('passages without markup', () => {
  test.each([
    ['comments', '<!-- <a href=y> --><a href=x>', ['a x']],
    ['comments ended by --!>', '<!-- <a href=y> --!><a href=x>', ['a x']],
    ['comments ended as they begin', '<!--><a href=x><!---><a href=y>-->', ['a x', 'a y']],
    ['comments of dashes', '<!------><a href=x><!----- -> <a href=z> ----><a href=y>', ['a x', 'a y']],
    ['comments that never end', '<a href=x><!-- <a href=y> --', ['a x']],
    ['a doctype', '<!DOCTYPE html "<a href=y>"><a href=x>', ['a x']],
    ['processing instructions up to >', '<?php echo "<a href=y>" ?><a href=x>', ['a x']],
    ['CDATA is no CDATA in HTML', '<![CDATA[ > <a href=x> ]]>', ['a x']],
    ['CDATA is CDATA in SVG', '<svg><![CDATA[ > <a href=y> ]]><a href=x>', ['a x']],
    ['CDATA in a title of SVG', '<svg><title><![CDATA[ > <a href=y> ]]></title><a href=x>', ['a x']],
    ['script', '<script>"<a href=y>"</script ><a href=x>', ['a x']],
    ['script with a comment', '<script><!-- "</script><a href=x>', ['a x']],
    ['script within a script within a comment', '<script><!--<script></script><a href=y></script><a href=x>', ['a x']],
    ['a comment that ends in a script ends its protection', '<script><!--<script>--></script><a href=x>', ['a x']],
    ['<!--> in a script protects nothing', '<script><!--><script></script><a href=x>', ['a x']],
    ['style', '<style><a href=y></style><a href=x>', ['a x']],
    ['title and textarea', '<title><a href=y></title><textarea><a href=y></textarea><a href=x>', ['a x']],
    ['an end tag that only begins so', '<xmp></xmpx><a href=y></xmp/><a href=x>', ['a x']],
    [
      'iframe, noembed, noframes',
      '<iframe><a href=y></iframe><noembed><a href=y></noembed><noframes><a href=y></noframes>',
      [],
    ],
    ['plaintext, to the end', '<plaintext></plaintext><a href=y>', []],
    ['raw text that never ends', '<a href=x><textarea><a href=y>', ['a x']],
    ['noscript is read, for we run no scripts', '<noscript><a href=x><img src=y></noscript>', ['a x', 'img y']],
    [
      'templates are patterns, not content',
      '<template><a href=y><template></template><a href=z></template><a href=x>',
      ['a x'],
    ],
    ['but a shadow root is content', '<template shadowrootmode=open><a href=x></template>', ['a x']],
    ['an end tag alone ends no template', '</template><a href=x>', ['a x']],
    [
      'a form in a template is not the form around it',
      '<template><form action=y></template><form action=x>',
      ['form x'],
    ],
  ])('%s', (_name, html, expected) => expect(links(html)).toEqual(expected))
})

describe('svg and math', () => {
  test.each([
    ['<svg><a href=x><a xlink:href=y><a xlink:href=n href=z></svg>', ['a x', 'a y', 'a z']],
    [
      '<svg><image href=x /><use href="#i"/><use xlink:href="s.svg#i"/><script href=y></script></svg>',
      ['img x', 'img s.svg#i', 'script y'],
    ],
    ['<svg><img src=x>', ['img x']],
    ['<svg><style><a href=x></style></svg>', ['a x']],
    ['<svg><title><a href=x></title></svg>', ['a x']],
    ['<svg><foreignObject><title><a href=y></title></foreignObject><title><a href=x></title>', ['a x']],
    ['<svg/><style><a href=y></style><a href=x>', ['a x']],
    ['<svg><p><style><a href=y></style><a href=x>', ['a x']],
    ['<svg><g></p><style><a href=y></style><a href=x>', ['a x']],
    ['<math><mi><style><a href=y></style></mi><mo><a href=x></mo></math>', ['a x']],
    ['<math><annotation-xml encoding=text/html><style><a href=y></style><a href=x></annotation-xml></math>', ['a x']],
    ['<math><annotation-xml><style><a href=x></style></annotation-xml></math>', ['a x']],
    ['<template><svg><g></template><a href=x>', ['a x']],
  ])('%s', (html, expected) => expect(links(html)).toEqual(expected))
})

describe('character references', () => {
  test.each([
    ['?a=1&amp;b=2', '?a=1&b=2'],
    ['?a=1&b=2', '?a=1&b=2'],
    ['?a&copy=1', '?a&copy=1'],
    ['?a&copyx', '?a&copyx'],
    ['?a&copy;', '?a©'],
    ['?a&copy', '?a©'],
    ['?a&copy.x', '?a©.x'],
    ['&#120;&#x79;&#X7A;', 'xyz'],
    ['&#150;', '–'],
    ['&#0;&#xD800;&#x110000;', '\uFFFD\uFFFD\uFFFD'],
    ['&notin;&notit;', '∉&notit;'],
    ['&nosuch;&;&#;&#x;', '&nosuch;&;&#;&#x;'],
    [' &#32;x&#10; ', 'x'],
  ])('href %s means %s', (raw, meant) => {
    expect(scan(`<a href="${raw}">`).links[0]?.href).toBe(meant)
  })
})

describe('facts', () => {
  test('the first base with an href holds, wherever it stands', () => {
    expect(scan('<base target=_top><a href=x><base href=" /a/ "><base href=/b/>').baseHref).toBe('/a/')
    expect(scan('<base href="">').baseHref).toBe('')
    expect(scan('<a href=x>').baseHref).toBeNull()
  })

  test('the title is the first one, decoded, its white space collapsed', () => {
    expect(scan('<title>\n A &amp; B\t <b> </title><title>C</title>').title).toBe('A & B <b>')
    expect(scan('<svg><title>drawing</title></svg><title>page</title>').title).toBe('page')
    expect(scan('<title></title>').title).toBe('')
    expect(scan('<p>').title).toBeNull()
  })

  test('a title is cut at the limit', () => {
    const { title } = scanHtml(
      Buffer.from(`<title>${'é '.repeat(5_000)}`),
      { charset: 'utf-8' },
      { ...options, titleLength: 11 },
    )
    expect(title).toBe('é é é é é é')
  })

  test('links beyond the limit are counted, not kept', () => {
    const page = scanHtml(Buffer.from('<a href=x>'.repeat(10)), { charset: null }, { ...options, linksPerPage: 7 })
    expect([page.links.length, page.linksDropped]).toEqual([7, 3])
  })

  test('the language is that of html, in lower case', () => {
    expect(scan('<html lang=" pt-BR "><p lang=fr>').language).toBe('pt-br')
    expect(scan('<html><html lang=de>').language).toBe('de')
    expect(scan('<html xml:lang=sv>').language).toBe('sv')
    expect(scan('<html xml:lang=sv><html lang=de xml:lang=fr>').language).toBe('de')
    expect(scan('<p lang=fr>').language).toBeNull()
  })

  test('rel=canonical is recorded and still a link', () => {
    const page = scan('<link rel="Canonical alternate" href=x><link rel=canonical href=y>')
    expect(page.canonical).toBe('x')
    expect(page.links.map(({ href }) => href)).toEqual(['x', 'y'])
  })

  test('metas for robots are kept with name and content in lower case', () => {
    const page = scan(
      '<META NAME=Robots CONTENT="NoIndex, Follow"><meta name=googlebot content=nofollow><meta name=description content="None of it"><meta name=robots>',
    )
    expect(page.metaRobots).toEqual([
      ['robots', 'noindex, follow'],
      ['googlebot', 'nofollow'],
    ])
  })

  test('those about text and data mining too, a URL as it is written', () => {
    const page = scan('<meta name=TDM-Reservation content=1><meta name="tdm-policy" content="https://h/Policy">')
    expect(page.metaRobots).toEqual([
      ['tdm-reservation', '1'],
      ['tdm-policy', 'https://h/Policy'],
    ])
  })
})

describe('encodings', () => {
  const bytes = (...parts: (string | number[])[]): Buffer =>
    Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))))
  const first = (page: Uint8Array, charset: string | null): unknown[] => {
    const { links: found, encoding } = scanHtml(page, { charset }, options)
    return [encoding, found[0]?.href]
  }

  test.each([
    ['utf-8', [0xe2, 0x82, 0xac], '€'],
    ['windows-1252', [0x80], '€'],
    ['windows-1251', [0xcf], 'П'],
    ['shift_jis', [0x83, 0x5c], 'ソ'],
    ['euc-jp', [0xc6, 0xfc], '日'],
    ['gb18030', [0x81, 0x30, 0x81, 0x30], '\u0080'],
    ['big5', [0xa4, 0x40], '一'],
    ['x-user-defined', [0x80], '\uF780'],
  ])('a value in %s is decoded', (charset, encoded, text) => {
    expect(first(bytes('<a href="?q=', encoded, '&amp;">'), charset)).toEqual([charset, `?q=${text}&`])
  })

  test('a broken sequence does not swallow the quote behind it', () => {
    for (const charset of ['utf-8', 'shift_jis', 'euc-jp', 'gb18030', 'big5', 'euc-kr']) {
      expect(links(bytes('<a title="', [0x81], '" href=x>').toString('latin1'))).toEqual(['a x'])
      expect(scanHtml(bytes('<a title="', [0x81], '" href=x>'), { charset }, options).links).toHaveLength(1)
    }
  })

  test('UTF-16 and ISO-2022-JP are read whole', () => {
    const page = '<title>日本</title><a href="日?x">'
    expect(first(Buffer.from(`\uFEFF${page}`, 'utf16le'), null)).toEqual(['utf-16le', '日?x'])
    expect(first(Buffer.from(page, 'utf16le'), 'utf-16le')).toEqual(['utf-16le', '日?x'])
    // In ISO-2022-JP the bytes of 日 are `F|`, and those of あ are `$"`: a quote that is none.
    expect(first(bytes('<a href="', [0x1b], '$B$"F|', [0x1b], '(B">'), 'iso-2022-jp')).toEqual(['iso-2022-jp', 'あ日'])
  })

  test('an encoding that must not be read has no links', () => {
    expect(first(bytes('<a href=x>'), 'iso-2022-kr')).toEqual(['replacement', undefined])
  })

  test('a declaration after the first kilobyte still counts against a guess', () => {
    const late = bytes('<p>', ' '.repeat(2_000), '<a href="', [0xe9], '"><meta charset=iso-8859-2>')
    expect(first(late, null)).toEqual(['iso-8859-2', 'é'])
    expect(first(late, 'windows-1251')).toEqual(['windows-1251', 'й'])
  })

  test('a declaration in a script, a comment or a template is none to the scan', () => {
    const space = ' '.repeat(1_100)
    for (const hidden of [
      '<script><meta charset=koi8-r></script>',
      '<!--<meta charset=koi8-r>-->',
      '<template><meta charset=koi8-r></template>',
    ]) {
      expect(scanHtml(Buffer.from(`${space}${hidden}`), { charset: null }, options).encoding).toBe('windows-1252')
    }
  })
})

describe('XHTML served as XML', () => {
  const scanXml = (text: string): ParsedPage => scanHtml(Buffer.from(text), { charset: null, syntax: 'xml' }, options)

  test('an empty element of raw text is empty', () => {
    expect(
      scanXml('<html><head><title/><script src="s"/></head><a href="x"/></html>').links.map(({ href }) => href),
    ).toEqual(['s', 'x'])
  })

  test('CDATA sections hide markup', () => {
    expect(scanXml('<p><![CDATA[ > <a href="y"> ]]><a href="x"/></p>').links.map(({ href }) => href)).toEqual(['x'])
  })

  test('the XML declaration names the encoding, and UTF-8 is the default', () => {
    expect(scanXml('<?xml version="1.0" encoding="iso-8859-2"?><html/>').encoding).toBe('iso-8859-2')
    expect(scanXml('<html><meta charset="koi8-r"/></html>').encoding).toBe('utf-8')
  })
})

test('the scanned bytes are not changed and may be part of a larger buffer', () => {
  const whole = Buffer.from('<a href=no><a href=yes><a href=no>')
  const copy = Buffer.from(whole)
  const part = new Uint8Array(whole.buffer, whole.byteOffset + 11, 12)
  expect(scanHtml(part, { charset: null }, options).links.map(({ href }) => href)).toEqual(['yes'])
  expect(whole.equals(copy)).toBe(true)
})

test('a link in which every & is written &amp; stands where it is, whichever way it is asked for', () => {
  const hrefs = ['?a=1&amp;b=2', '&amp;amp;', 'x&amp;', '?a&b=2', '?a&amp;b&c', '&amp', 'é&amp;']
  const html = hrefs.map((href) => `<a href="${href}">x</a>`).join('')
  const page = scanHtml(Buffer.from(html), { charset: 'utf-8' }, options)
  expect(page.links.map(({ href }) => href)).toEqual(['?a=1&b=2', '&amp;', 'x&', '?a&b=2', '?a&b&c', '&', 'é&'])
  const { spans } = page
  expect(hrefs.map((_, i) => spans.href(i))).toEqual(page.links.map(({ href }) => href))
  expect(hrefs.map((_, i) => spans.places[3 * i] !== -1)).toEqual([true, true, true, false, false, false, false])
})
