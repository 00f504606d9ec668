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
/** The first is the warm-up. Of the others the best counts, too: whatever else runs on the machine only adds. */
const ROUNDS = 6
const pages = Number(process.argv[2] ?? 200_000)

const perRound = Math.ceil(pages / HOSTS / (ROUNDS - 1))
const testWeb = await ForkedTestWeb.start({ seed: 'bench', hosts: HOSTS, pages: perRound * ROUNDS })
const micros: number[] = []
let bytes = 0
let before = await testWeb.figures()
for (let round = 0; round < ROUNDS; round++) {
  bytes += await load(round * perRound, (round + 1) * perRound)
  const after = await testWeb.figures()
  if (round > 0) micros.push(((after.cpuMs - before.cpuMs) * 1_000) / (after.requests - before.requests))
  before = after
}
await testWeb.stop()

micros.sort((a, b) => a - b)
const [best = 0, median = 0] = [micros[0], micros[micros.length >> 1]]
const result = {
  bench: 'testweb',
  seed: 'bench',
  pages: before.requests,
  meanBytes: Math.round(bytes / before.requests),
  cpuMicrosPerPage: Number(median.toFixed(1)),
  cpuMicrosPerPageBest: Number(best.toFixed(1)),
  pagesPerCoreSecond: Math.round(1e6 / median),
  pagesPerCoreSecondBest: Math.round(1e6 / best),
}
console.log(
  `${result.pagesPerCoreSecond} pages/s per core (best round ${result.pagesPerCoreSecondBest}): ` +
    `${result.cpuMicrosPerPage} µs CPU per page of ${result.meanBytes} bytes (${result.pages} pages, ${HOSTS} hosts)`,
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
