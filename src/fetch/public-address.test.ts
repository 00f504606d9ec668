// Each special range at its edges, on both sides, and the disguises of IPv4 addresses in IPv6.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { isPrivateHost, isPublicAddress } from './public-address.ts'

const NOT_PUBLIC = `
  0.0.0.0 0.255.255.255 10.0.0.0 10.255.255.255 100.64.0.0 100.127.255.255 127.0.0.1 127.255.255.255
  169.254.0.0 169.254.169.254 169.254.255.255 172.16.0.0 172.31.255.255 192.0.0.0 192.0.0.255 192.0.2.0
  192.0.2.255 192.88.99.1 192.168.0.0 192.168.255.255 198.18.0.0 198.19.255.255 198.51.100.0 198.51.100.255
  203.0.113.0 203.0.113.255 224.0.0.0 239.255.255.255 240.0.0.0 255.255.255.255 :: ::1 ::2 ::7f00:1
  ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:7f00:1 ::FFFF:10.0.0.1 0:0:0:0:0:ffff:a9fe:a9fe
  64:ff9b::10.0.0.1 64:ff9b::7f00:1 64:ff9b:1::1 64:ff9b:1:0:0:0:808:808 100:: 100::1 2001::
  2001:0:4136:e378::1 2001:1ff:ffff::1 2001:db8:: 2001:db8:ffff:ffff::1 3fff::1 3fff:fff:ffff::1
  2002:7f00:1:: 2002:a00:1::1 2002:c0a8:101:: fc00:: fd12:3456::1 fdff:ffff:: fe80::1 febf::1 fec0::1 ff00::
  ff02::1 fe80::1%eth0 2606:4700::1%eth0 4000::1 1fff:ffff::1 5f00::1 localhost 1.2.3 1.2.3.4.5 256.1.1.1
  0x7f.1 2130706433 [::1] ::: 2606:4700::5efe:10.0.0.1 2606:4700::200:5efe:7f00:1
`
  .trim()
  .split(/\s+/)
  .concat(['', '8.8.8.8 '])

const PUBLIC = `
  1.0.0.0 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.3.0 192.88.98.0
  192.88.100.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 198.51.99.255 198.51.101.0
  203.0.112.255 203.0.114.0 223.255.255.255 2000::1 2001:200:: 2001:4860:4860::8888 2001:db7:ffff::1
  2001:db9:: 2606:4700:4700::1111 2a00::1 3ffe:ffff::1 3fff:1000::1 ::ffff:8.8.8.8 ::ffff:808:808
  64:ff9b::8.8.8.8 64:ff9b::808:808 2002:808:808::1 2003::1 2606:4700::5efe:8.8.8.8 2606:4700::1:5efe:7f00:1
`
  .trim()
  .split(/\s+/)

test.each(NOT_PUBLIC)('%j is not public', (ip) => {
  expect(isPublicAddress(ip)).toBe(false)
})

test.each(PUBLIC)('%s is public', (ip) => {
  expect(isPublicAddress(ip)).toBe(true)
})

test('an IPv4 address is judged alike in all its disguises', () => {
  fc.assert(
    fc.property(fc.ipV4(), (ip) => {
      const [a = 0, b = 0, c = 0, d = 0] = ip.split('.').map(Number)
      const hex = `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
      const verdict = isPublicAddress(ip)
      for (const disguise of [
        `::ffff:${ip}`,
        `::ffff:${hex}`,
        `0:0:0:0:0:FFFF:${hex}`,
        `64:ff9b::${ip}`,
        `2002:${hex}::1`,
      ]) {
        expect(isPublicAddress(disguise)).toBe(verdict)
      }
    }),
    { numRuns: 2_000 },
  )
})

test('any text is judged without complaint', () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV6()), (text) => void isPublicAddress(text)))
})

test.each(['127.0.0.1', '10.1.2.3', '::1', 'fe80::1', 'localhost', 'localhost.', 'a.localhost', '169.254.169.254'])(
  '%s is private by its name alone',
  (host) => {
    expect(isPrivateHost(host)).toBe(true)
  },
)

test.each(['8.8.8.8', '2606:4700::1', 'example.org', 'localhost.example.org', 'notlocalhost'])('%s is not', (host) => {
  expect(isPrivateHost(host)).toBe(false)
})
