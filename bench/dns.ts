// What does a host cost to resolve, remembered and asked for?
//
//   node bench/dns.ts [--hosts 20000]
//
// Asked for: a name server in another process answers A and AAAA at once over UDP on the loopback.
// CPU time of this process; a remembered host is asked for a hundred times as often.

import { fork } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/base/index.ts'
import { CachingResolver } from '../src/dns/index.ts'
import { dnsOptions } from '../src/dns/options.ts'
import type { HostKey } from '../src/url/index.ts'

/** One A record for every name, nothing for AAAA. */
function serve(): void {
  const socket = createSocket('udp4')
  const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 14, 16, 0, 4, 192, 0, 2, 1])
  socket.on('message', (message, peer) => {
    const end = message.indexOf(0, 12) + 5
    const isA = message[end - 3] === 1
    const answer = Buffer.concat([message.subarray(0, end), isA ? record : Buffer.alloc(0)])
    answer.writeUInt16BE(0x8180, 2)
    answer.writeUInt16BE(isA ? 1 : 0, 6)
    answer.writeUInt16BE(0, 10)
    socket.send(answer, peer.port, peer.address)
  })
  socket.bind(0, '127.0.0.1', () => process.send?.(socket.address().port))
}

async function cpuUs(count: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { hosts: { type: 'string', default: '20000' } } })
  const hosts = Array.from({ length: Number(values.hosts) }, (_, i) => `www.host-${i}.test` as HostKey)
  const child = fork(fileURLToPath(import.meta.url), ['serve'])
  const [port] = (await once(child, 'message')) as [number]
  const resolver = new CachingResolver(dnsOptions.parse({ servers: [`127.0.0.1:${port}`] }), systemClock)
  const resolveAll = async (): Promise<void> => {
    for (const answer of await Promise.all(hosts.map((host) => resolver.resolve(host)))) {
      if (answer.kind !== 'resolved') throw new Error(JSON.stringify(answer))
    }
  }
  const askedUs = await cpuUs(hosts.length, resolveAll)
  await resolveAll()
  const rememberedUs = await cpuUs(hosts.length * 100, async () => {
    for (let round = 0; round < 100; round++) await resolveAll()
  })
  resolver.close()
  child.kill()
  console.log(`asked for  ${askedUs.toFixed(1)} µs CPU per host`)
  console.log(`remembered ${rememberedUs.toFixed(2)} µs CPU per host`)
  console.log(JSON.stringify({ bench: 'dns', hosts: hosts.length, askedUs, rememberedUs, node: process.version }))
}

if (process.argv[2] === 'serve') serve()
else await main()
