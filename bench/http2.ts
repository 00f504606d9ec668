// What does a page cost over HTTP/2 beside our HTTP/1.1, from the same nginx over TLS, one request at a time per connection?
//
//   node bench/http2.ts [--pages 3000] [--runs 3] [--hosts 16]
//
// nginx in another process, pages of 14 kB. CPU time of this process, best of the runs; the ways take turns. `ours h2` is our client
// with `fetch.http2: offered`, `ours h1*` the same with a server that offers HTTP/1.1 alone. `bare h1` is node:https with an
// agent that keeps connections: what Node's own HTTP/1.1 costs.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type ClientHttp2Session } from 'node:http2'
import { Agent, get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/base/index.ts'
import { Spool } from '../src/document/index.ts'
import { HttpFetcher } from '../src/fetch/index.ts'
import { fetchOptions } from '../src/fetch/options.ts'
import type { CanonicalUrl } from '../src/url/index.ts'
import { freePort, runNginx } from '../test/crawl/nginx.ts'
import { Certificates } from '../testweb/serve/certificates.ts'

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '3000' },
    runs: { type: 'string', default: '3' },
    hosts: { type: 'string', default: '16' },
  },
})
const pages = Number(values.pages)
const hosts = Number(values.hosts)
const PAGE_BYTES = 14_000

const folder = mkdtempSync(join(tmpdir(), 'portolan-http2-'))
mkdirSync(join(folder, 'root'))
writeFileSync(join(folder, 'root/page.html'), Buffer.alloc(PAGE_BYTES, 'some text of a page '))
const certificates = new Certificates(Date.now())
writeFileSync(join(folder, 'cert.pem'), certificates.certificateFor('127.0.0.1'))
writeFileSync(join(folder, 'key.pem'), certificates.key)
writeFileSync(join(folder, 'ca.pem'), certificates.authority)
const port = await freePort()
const oldPort = await freePort()
const nginx = await runNginx({
  folder,
  address: '127.0.0.1',
  port,
  connectionsMax: 512,
  http: `types { text/html html; } access_log off; keepalive_requests 1000000;
    ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
    server { listen 0.0.0.0:${port} ssl http2; root ${folder}/root; }
    server { listen 0.0.0.0:${oldPort} ssl; root ${folder}/root; }`,
})

type Way = (host: number) => Promise<number>

async function cpuUs(one: Way): Promise<number> {
  // Connections and code are warm when the clock starts.
  await Promise.all(Array.from({ length: hosts }, (_, host) => one(host)))
  const before = process.cpuUsage()
  let next = 0
  const visit = async (host: number): Promise<void> => {
    while (next++ < pages) {
      const bytes = await one(host)
      if (bytes !== PAGE_BYTES) throw new Error(`${bytes} bytes came`)
    }
  }
  await Promise.all(Array.from({ length: hosts }, (_, host) => visit(host)))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / pages
}

const spool = new Spool(folder, 2 ** 20)
const fetchers: HttpFetcher[] = []
const { signal } = new AbortController()
function ours(http2: 'off' | 'offered', serverPort = port): Way {
  const options = fetchOptions.parse({ allowPrivate: true, tls: 'accept-any', requestTimeout: '1h', http2 })
  const fetcher = new HttpFetcher(options, spool, systemClock)
  fetchers.push(fetcher)
  return (host) => fetchOne(fetcher, serverPort, host)
}

async function fetchOne(fetcher: HttpFetcher, serverPort: number, host: number): Promise<number> {
  const ip = `127.0.0.${host + 1}`
  const outcome = await fetcher.fetch(
    {
      url: `https://${ip}:${serverPort}/page.html` as CanonicalUrl,
      addresses: [{ ip, family: 4 }],
      purpose: 'page',
      isLast: false,
      acceptPartial: false,
    },
    signal,
  )
  if (outcome.kind !== 'fetched') throw new Error(JSON.stringify(outcome))
  const { length } = outcome.document.body
  outcome.document.release()
  return length
}

const sessions: ClientHttp2Session[] = []
const overHttp2: Way = (host) =>
  new Promise((resolve, reject) => {
    sessions[host] ??= connect(`https://127.0.0.${host + 1}:${port}`, { rejectUnauthorized: false })
    const stream = sessions[host].request({ ':path': '/page.html', 'user-agent': 'bench', accept: '*/*' })
    const pieces: Buffer[] = []
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    stream.on('end', () => resolve(Buffer.concat(pieces).length))
    stream.on('error', reject)
    stream.end()
  })

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const bare: Way = (host) =>
  new Promise((resolve, reject) => {
    get({ host: `127.0.0.${host + 1}`, port, path: '/page.html', agent, rejectUnauthorized: false }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve(Buffer.concat(pieces).length))
    }).on('error', reject)
  })

const ways: readonly (readonly [string, Way])[] = [
  ['ours h1', ours('off')],
  ['ours h1*', ours('offered', oldPort)],
  ['ours h2', ours('offered')],
  ['node:http2', overHttp2],
  ['bare h1', bare],
]
const best = new Map<string, number>()
for (let run = 0; run < Number(values.runs); run++) {
  for (const [name, way] of ways) best.set(name, Math.min(best.get(name) ?? Infinity, await cpuUs(way)))
}
for (const [name, us] of best) console.log(`${name.padEnd(12)} ${us.toFixed(0).padStart(6)} µs of CPU per page`)
console.log(JSON.stringify({ bench: 'http2', pages, cpuUsPerPage: Object.fromEntries(best) }))

for (const session of sessions) session.close()
agent.destroy()
for (const fetcher of fetchers) await fetcher.close()
spool.close()
await nginx.stop()
rmSync(folder, { recursive: true })
