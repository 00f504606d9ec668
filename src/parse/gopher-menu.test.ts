import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseGopherMenu } from './gopher-menu.ts'
import { parseOptions } from './options.ts'

const options = parseOptions.parse({})
const hrefs = (text: string): string[] =>
  parseGopherMenu(Buffer.from(text, 'latin1'), options).links.map(({ href }) => href)

test.each([
  ['0About\t/about.txt\tgopher.test\t70', 'gopher://gopher.test:70/0/about.txt'],
  ['1Docs\t/docs\tgopher.test\t7070\t+', 'gopher://gopher.test:7070/1/docs'],
  ['1Root\t\tgopher.test\t70', 'gopher://gopher.test:70/1'],
  ['gPicture\tg/a b?c#d%\tgopher.test\t70', 'gopher://gopher.test:70/gg/a%20b%3Fc%23d%25'],
  ['9Caf\xe9\t/caf\xe9\tgopher.test\t70', 'gopher://gopher.test:70/9/caf%E9'],
  ['hWeb\tURL:https://example.org/a?b\tgopher.test\t70', 'https://example.org/a?b'],
  ['hWeb\t/URL:http://example.org/\tgopher.test\t70', 'http://example.org/'],
  ['hPage\t/page.html\tgopher.test\t70', 'gopher://gopher.test:70/h/page.html'],
])('%j leads to %s', (line, href) => {
  expect(hrefs(`${line}\r\n`)).toEqual([href])
})

test.each([
  'iJust words\tfake\t(NULL)\t0',
  '3Error\t\terror.host\t1',
  '7Search\t/find\tgopher.test\t70',
  '8Telnet\t\tgopher.test\t23',
  'Tterminal\t\tgopher.test\t23',
  '2Phones\t\tgopher.test\t105',
  '0No host\t/x\t\t70',
  '0No port\t/x\tgopher.test\tseventy',
  '0No tabs',
  '',
])('%j leads nowhere', (line) => {
  expect(hrefs(`${line}\r\n`)).toEqual([])
})

test('a menu ends with a dot, with the bytes, or wherever the server leaves off', () => {
  expect(hrefs('0A\t/a\th\t70\n.\n0B\t/b\th\t70\n')).toEqual(['gopher://h:70/0/a'])
  expect(hrefs('0A\t/a\th\t70\r\n0B\t/b\th\t70')).toEqual(['gopher://h:70/0/a', 'gopher://h:70/0/b'])
})

test('any bytes are a menu', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      parseGopherMenu(bytes, options)
    }),
  )
})
