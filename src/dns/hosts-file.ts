// /etc/hosts, as far as a crawler needs it: address, then names, '#' starts a comment.

import { isIP } from 'node:net'
import type { Address } from './resolver.ts'

/** Names in lower case with their addresses in the order of the file. Lines that make no sense are passed over. */
export function parseHosts(text: string): Map<string, Address[]> {
  const hosts = new Map<string, Address[]>()
  for (const line of text.split(/\r?\n/)) {
    const [ip = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    const family = isIP(ip)
    // A zone ('fe80::1%lo0') names an interface of this machine, not a host of the web.
    if ((family !== 4 && family !== 6) || ip.includes('%')) continue
    for (const name of names) {
      const key = name.toLowerCase()
      const known = hosts.get(key) ?? []
      if (!known.some((address) => address.ip === ip)) known.push({ ip, family })
      hosts.set(key, known)
    }
  }
  return hosts
}
