// How many pages of 14 kB does the test web serve per second of one core? It must not be the bottleneck
// of any crawl it is used to measure: the bar is 20,000.
//
//   node bench/testweb.ts [pages]
//
// The load comes from bare sockets in this process, a few requests in flight on each, no page twice; what
// counts is the CPU time of the server's process.

import { connect, type Socket } from 'node:net'
import { ForkedTestWeb } from '../testweb/index.ts'

const HOSTS = 64
const IN_FLIGHT = 4
const WARM_UP_PAGES = 20_000
const pages = Number(process.argv[2] ?? 200_000)

const perHost = Math.ceil((pages + WARM_UP_PAGES) / HOSTS)
const testWeb = await ForkedTestWeb.start({ seed: 'bench', hosts: HOSTS, pages: perHost })
await load(0, Math.floor(WARM_UP_PAGES / HOSTS))
const before = await testWeb.figures()
const bytes = await load(Math.floor(WARM_UP_PAGES / HOSTS), perHost)
const after = await testWeb.figures()
await testWeb.stop()

const served = after.requests - before.requests
const cpuMicros = ((after.cpuMs - before.cpuMs) * 1_000) / served
const result = {
  bench: 'testweb',
  pages: served,
  meanBytes: Math.round(bytes / served),
  cpuMicrosPerPage: Number(cpuMicros.toFixed(1)),
  pagesPerCoreSecond: Math.round(1e6 / cpuMicros),
}
console.log(
  `${result.pagesPerCoreSecond} pages/s per core: ${result.cpuMicrosPerPage} µs CPU per page of ${result.meanBytes} bytes (${served} pages, ${HOSTS} hosts)`,
)
console.log(JSON.stringify(result))

/** Asks every host for its pages from..to over one connection, and returns the bytes received. */
async function load(from: number, to: number): Promise<number> {
  const totals = await Promise.all(Array.from({ length: HOSTS }, (_, host) => loadHost(host, from, to)))
  return totals.reduce((sum, each) => sum + each, 0)
}

function loadHost(host: number, from: number, to: number): Promise<number> {
  const { ip, name, authority } = testWeb.web.hosts.at(host)
  const heads = Array.from({ length: to - from }, (_, i) => {
    const { pathname, search } = new URL(testWeb.web.url(host, from + i))
    return `GET ${pathname}${search} HTTP/1.1\r\nHost: ${authority}\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n`
  })
  return new Promise((resolve, reject) => {
    let asked = 0
    let answered = 0
    let bodyLeft = 0
    let total = 0
    let pending: Buffer | null = null
    const socket: Socket = connect(testWeb.started.ports.http, ip)
    const ask = (): void => {
      while (asked < heads.length && asked - answered < IN_FLIGHT) socket.write(heads[asked++] ?? '', 'latin1')
    }
    socket.on('connect', ask)
    socket.on('error', reject)
    socket.on('data', (received: Buffer) => {
      const chunk: Buffer = pending === null ? received : Buffer.concat([pending, received])
      pending = null
      let at = 0
      while (at < chunk.length) {
        if (bodyLeft === 0) {
          const headEnd = chunk.indexOf('\r\n\r\n', at)
          if (headEnd < 0) {
            pending = chunk.subarray(at)
            return
          }
          const head = chunk.toString('latin1', at, headEnd)
          bodyLeft = Number(/Content-Length: (\d+)/.exec(head)?.[1] ?? Number.NaN)
          if (!head.startsWith('HTTP/1.1 200') || Number.isNaN(bodyLeft)) {
            reject(new Error(`${name}: ${head}`))
            socket.destroy()
            return
          }
          total += bodyLeft
          at = headEnd + 4
        }
        const taken = Math.min(bodyLeft, chunk.length - at)
        bodyLeft -= taken
        at += taken
        if (bodyLeft === 0) answered++
      }
      if (answered === heads.length) {
        socket.end()
        resolve(total)
      } else ask()
    })
  })
}
