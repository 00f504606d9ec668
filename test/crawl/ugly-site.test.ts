// A site of pages nobody would write, in encodings nobody should use: a crawl finds what a plain walker with a full parser finds,
// and nothing else, with one agent and with several. The large version crawls real sites: npm run corpora.

import { isUtf8 } from 'node:buffer'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkPage } from '../oracle/fuzz-check.ts'
import { FuzzPages } from '../oracle/fuzz-pages.ts'
import { walk } from '../oracle/reference-walker.ts'
import { startNginx } from './nginx.ts'
import { crawl, FAST, temporaryDirectory } from './run-crawl.ts'

const SOUP_PAGES = 80

/** 日本 in three encodings; in the last its bytes look like a tag. */
const JAPANESE: readonly (readonly [charset: string, hex: string])[] = [
  ['shift_jis', '93fa967b'],
  ['euc-jp', 'c6fccbdc'],
  ['iso-2022-jp', '1b2442467c4b5c1b2842'],
]

function makeSite(root: string): void {
  const names: string[] = []
  const write = (name: string, ...parts: (string | Buffer)[]): void => {
    writeFileSync(join(root, name), Buffer.concat(parts.map((part) => Buffer.from(part))))
    names.push(name)
  }
  for (const [charset, hex] of JAPANESE) {
    const word = Buffer.from(hex, 'hex')
    write(
      `${charset}.html`,
      `<meta charset=${charset}><title>`,
      word,
      '</title><p>',
      word,
      '<a href="',
      word,
      `.html?${charset}">`,
      word,
      '</a>',
    )
  }
  write('日本.html', '<meta charset=utf-8><title>日本</title><a href=wide.html>wide</a>')
  write(
    'wide.html',
    Buffer.from('\uFEFF<title>é</title><a href="é.html">é</a><!-- <a href=hidden.html> -->', 'utf16le'),
  )
  write('é.html', '<meta charset=utf-8><script>"<a href=script.html>"</script><a href=after.html>')
  write('deep.html', '<div>'.repeat(2_000), '<a href=deepest.html>')
  // Numbers, for a line of one word is packed so small that it would be cut as a bomb.
  write('long.html', Array.from({ length: 300_000 }, (_, number) => number).join(' '), '<a href=end.html>')

  const soup = new FuzzPages('ugly-site', [])
  for (let number = 0; names.length < SOUP_PAGES; number++) {
    const bytes = Buffer.concat([Buffer.from('<!DOCTYPE html><meta charset=utf-8>'), soup.page(number).bytes])
    // Others are compared by the fuzz; here both must read the same bytes alike.
    if (isUtf8(bytes) && checkPage({ bytes, charset: 'utf-8' }).isCompared) write(`soup${number}.html`, bytes)
  }
  const links = names.map((name) => `<a href="${encodeURI(name)}">`).join('\n')
  writeFileSync(join(root, 'index.html'), `<!doctype html><meta charset=utf-8>${links}`)
}

test('whatever is on its pages, the crawl asks for the same URLs as a plain walker, and is answered the same', async () => {
  const root = temporaryDirectory(onTestFinished)
  makeSite(root)
  const nginx = await startNginx(root)
  onTestFinished(() => nginx.stop())
  const expected = await walk([nginx.url])
  expect(expected.size).toBeGreaterThan(SOUP_PAGES)
  expect(expected.has(`${nginx.url}%E6%97%A5%E6%9C%AC.html?iso-2022-jp`)).toBe(true)

  for (const agents of [0, 2]) {
    const dir = temporaryDirectory(onTestFinished)
    const { pages, failures } = await crawl({ seeds: [nginx.url], dir, agents, flags: { ...FAST, robots: 'ignore' } })
    expect(new Map(pages.map(({ url, status }) => [url, status]))).toEqual(expected)
    expect(pages).toHaveLength(expected.size)
    expect(failures).toEqual([])
    const titles = new Map(pages.map(({ url, title, charset }) => [url.slice(nginx.url.length), [title, charset]]))
    for (const [charset] of JAPANESE) expect(titles.get(`${charset}.html`)).toEqual(['日本', charset])
    expect(titles.get('wide.html')).toEqual(['é', 'utf-16le'])
  }
})
