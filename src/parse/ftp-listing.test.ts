import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { listingEntries, parseFtpListing } from './ftp-listing.ts'
import { parseOptions } from './options.ts'

const options = parseOptions.parse({})

test.each([
  // MLSD
  ['type=file;size=12;modify=20260102030405; a b.txt', 'a b.txt', 'file'],
  ['Type=dir;Perm=el; pub', 'pub', 'directory'],
  ['type=OS.unix=slink:/target; here', 'here', 'link'],
  ['type=OS.unix=symlink; here', 'here', 'link'],
  ['size=1; untyped', 'untyped', 'file'],
  ['type=file;  two blanks', ' two blanks', 'file'],
  // Unix
  ['-rw-r--r--    1 1000     1000         2000 Jan 02 03:04 a.txt', 'a.txt', 'file'],
  ['-rw-r--r--   1 ftp ftp 6 Jan  2  2020  leading blank', ' leading blank', 'file'],
  ['drwxr-xr-x   2 ftp      ftp          4096 Nov 16 11:30 pub', 'pub', 'directory'],
  ['drwxr-xr-x+  2 ftp      ftp          4096 Nov 16 11:30 with acl', 'with acl', 'directory'],
  ['lrwxrwxrwx    1 0        0               3 Nov 16 11:29 link -> pub', 'link', 'link'],
  ['-rw-r--r--  1 owner  5 Jan 2 2020 no-group', 'no-group', 'file'],
  ['-rw-r--r-- 1 u g 5 2020-01-02 03:04 iso date', 'iso date', 'file'],
  ['-rw-r--r--    1 0        0               1 Nov 16 11:29 caf\xe9', 'caf\xe9', 'file'],
  // DOS
  ['01-02-26  03:04AM       <DIR>          pub', 'pub', 'directory'],
  ['01-02-2026  03:04PM              1,234 a b.txt', 'a b.txt', 'file'],
])('%j is %j, a %s', (line, name, kind) => {
  expect([...listingEntries(`${line}\r\n`)]).toEqual([{ name, kind }])
  expect([...listingEntries(line)]).toEqual([{ name, kind }])
})

test.each([
  'total 24',
  '',
  'type=cdir; .',
  'type=pdir; ..',
  'drwxr-xr-x 2 ftp ftp 4096 Nov 16 11:30 .',
  'drwxr-xr-x 2 ftp ftp 4096 Nov 16 11:30 ..',
  'crw-rw-rw- 1 root root 1, 3 Nov 16 11:30 null',
  'prw-r--r-- 1 root root 0 Nov 16 11:30 pipe',
  'lrwxrwxrwx 1 0 0 1 Nov 16 11:29 loop -> .',
  'lrwxrwxrwx 1 0 0 1 Nov 16 11:29 loop -> ../..',
  'type=OS.unix=slink:..; up',
  'type=file; ../../etc/passwd',
  'type=file; a\0b',
  'garbage',
  `type=file; ${'x'.repeat(5_000)}`,
])('%j is no entry', (line) => {
  expect([...listingEntries(`${line}\r\n`)]).toEqual([])
})

test('entries are links by their bytes: nothing in a name means anything in a URL', () => {
  const text = 'type=dir; p:q\r\ntype=file; a b%41?#.txt\ntype=file; caf\xe9\r\ntype=file; caf\xc3\xa9\r\n'
  const page = parseFtpListing(Buffer.from(text, 'latin1'), options)
  expect(page.links.map(({ href }) => href)).toEqual(['./p%3Aq/', './a%20b%2541%3F%23.txt', './caf%E9', './caf%C3%A9'])
})

test('a name comes back as the same bytes when its link is asked for', () => {
  const names = fc
    .string({ unit: fc.nat(255).map((byte) => String.fromCharCode(byte)), minLength: 1, maxLength: 20 })
    .filter((name) => !/[\r\n\0/]/.test(name) && name !== '.' && name !== '..')
  fc.assert(
    fc.property(names, (name) => {
      const page = parseFtpListing(Buffer.from(`type=file; ${name}\r\n`, 'latin1'), options)
      const { pathname } = new URL(page.links[0]?.href ?? '', 'ftp://h/dir/')
      expect(pathname.slice('/dir/'.length)).toBe(page.links[0]?.href.slice(2))
      const bytes = pathname
        .slice('/dir/'.length)
        .replaceAll(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
      expect(bytes).toBe(name)
    }),
  )
})

test('any bytes are a listing, read in linear time', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      parseFtpListing(bytes, options)
    }),
  )
  for (const piece of ['-rwxrwxrwx 1 ', 'type=a;', ' ', '1 ', '01-02-26  03:04AM ']) {
    parseFtpListing(Buffer.from(piece.repeat(200_000)), options)
    parseFtpListing(Buffer.from(`${piece.repeat(4_000 / piece.length)}\n`.repeat(50)), options)
  }
})
