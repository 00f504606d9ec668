// May a stranger's link lead here? Only addresses that mean the same machine to everyone are public;
// the rest (this machine, this network, documentation, multicast, reserved) is refused by default.
// From IANA's special-purpose registries. IPv4 lists what is not public. IPv6 starts from what is,
// 2000::/3, because all else there is unassigned or special; addresses that carry an IPv4 address are
// judged by it.

import { isIP, isIPv4, isIPv6 } from 'node:net'

const V4_NOT_PUBLIC: readonly (readonly [network: number, mask: number])[] = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, and the metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4 relays, deprecated
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, and broadcast
].map((range) => {
  const [ip = '', bits = ''] = range.split('/')
  const mask = (0xffffffff << (32 - Number(bits))) >>> 0
  return [v4Number(ip), mask] as const
})

function v4Number(ip: string): number {
  let number = 0
  for (const part of ip.split('.')) number = number * 256 + Number(part)
  return number
}

function isPublicV4(number: number): boolean {
  for (const [network, mask] of V4_NOT_PUBLIC) if ((number & mask) >>> 0 === network) return false
  return true
}

function groupsOf(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
}

/** The eight groups of a valid IPv6 address. */
function v6Groups(ip: string): number[] {
  const dotted = ip.lastIndexOf(':') + 1
  let text = ip
  if (ip.includes('.')) {
    const v4 = v4Number(ip.slice(dotted))
    text = `${ip.slice(0, dotted)}${(v4 >>> 16).toString(16)}:${(v4 & 0xffff).toString(16)}`
  }
  const [left = '', right] = text.split('::')
  const before = groupsOf(left)
  if (right === undefined) return before
  const after = groupsOf(right)
  return [...before, ...Array.from({ length: 8 - before.length - after.length }, () => 0), ...after]
}

function isPublicV6(ip: string): boolean {
  const groups = v6Groups(ip)
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups
  const isStartZero = a === 0 && b === 0 && c === 0 && d === 0 && e === 0
  // ::ffff:0:0/96, an IPv4 address in disguise, and 64:ff9b::/96, one behind a translator.
  if (isStartZero && f === 0xffff) return isPublicV4(g * 65_536 + h)
  if (a === 0x64 && b === 0xff9b && c === 0 && d === 0 && e === 0 && f === 0) return isPublicV4(g * 65_536 + h)
  if (a >>> 13 !== 1) return false // outside 2000::/3
  if (a === 0x2002) return isPublicV4(b * 65_536 + c) // 6to4
  if (a === 0x2001 && b < 0x200) return false // 2001::/23, Teredo and other protocols
  if (a === 0x2001 && b === 0xdb8) return false // documentation
  if (a === 0x3fff && b < 0x1000) return false // 3fff::/20, documentation
  // ISATAP: a router of this network would take it to the IPv4 address in its end.
  if ((e === 0 || e === 0x200) && f === 0x5efe) return isPublicV4(g * 65_536 + h)
  return true
}

/** False for everything that is not a plain, public address, also for text that is no address at all. */
export function isPublicAddress(ip: string): boolean {
  if (isIPv4(ip)) return isPublicV4(v4Number(ip))
  // A zone ('fe80::1%eth0') names an interface of this machine.
  return isIPv6(ip) && !ip.includes('%') && isPublicV6(ip)
}

/**
 * Whether a host is private by its name alone, for where somebody else resolves names (a proxy): an address that is not
 * public, or a name of this machine. `hostname` is as in a canonical URL, without brackets: 0x7f.1 is 127.0.0.1 there.
 */
export function isPrivateHost(hostname: string): boolean {
  const name = hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
  if (isIP(name) !== 0) return !isPublicAddress(name)
  return name === 'localhost' || name.endsWith('.localhost')
}
