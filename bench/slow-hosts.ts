// Thousands of hosts that take their time: how many connections does one process hold open, and do hosts that answer at once
// get less of it?
//
//   node bench/slow-hosts.ts [--slow 6000] [--fast 50] [--answer 2000] [--pages 200] [--slow-pages 3] [--connections 8000] [--agents 1] [--json FILE]
//
//   slow   127.1.0.0 and on, each answers after --answer ms       one server in a process of its own, told apart
//   fast   127.0.1.0 and on, each answers at once                  by the address it was asked at
//
// Three crawls: the fast hosts alone, the slow ones alone, and both. Connections, and fast pages per second from the first to
// the last of them, are counted by the server; CPU time by the kernel. Ends with 1 if fewer than 5,000 connections were
// open at once.
//
// Starved is a host that is asked less than its share of a processor that is busy: with both crawled at once the processor is
// shared among all requests, so the fast hosts' share of all requests is said, too.

import { type ChildProcess, fork, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    slow: { type: 'string', default: '6000' },
    fast: { type: 'string', default: '50' },
    answer: { type: 'string', default: '2000' },
    pages: { type: 'string', default: '200' },
    'slow-pages': { type: 'string', default: '3' },
    connections: { type: 'string', default: '8000' },
    agents: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
})
const OPEN_BAR = 5_000
const TICK_SECONDS = 0.01
const LINKS_MAX = 20

/** What the server says of one crawl. */
interface Seen {
  readonly open: number
  readonly openMost: number
  readonly requests: number
  readonly fastPages: number
  readonly fastSeconds: number
  /** Of all requests while fast pages were asked for. */
  readonly fastShare: number
}

function serve(): void {
  const answerMs = Number(values.answer)
  let open = 0
  let openMost = 0
  let requests = 0
  let fast: { atMs: number; requests: number }[] = []
  const answer = (socket: Socket, path: string, isSlow: boolean): void => {
    const pages = Number(isSlow ? values['slow-pages'] : values.pages)
    const reply = path === '/robots.txt' ? notFound() : page(Number(path.slice(1)), pages)
    if (isSlow) setTimeout(() => socket.write(reply), answerMs)
    else socket.write(reply)
  }
  const server = createServer((socket) => {
    const isSlow = !(socket.localAddress ?? '').startsWith('127.0.')
    open++
    openMost = Math.max(openMost, open)
    socket.setNoDelay(true)
    let pending = ''
    socket.on('data', (piece) => {
      pending += piece.toString('latin1')
      for (let end = pending.indexOf('\r\n\r\n'); end !== -1; end = pending.indexOf('\r\n\r\n')) {
        const path = pending.slice(4, pending.indexOf(' ', 4))
        pending = pending.slice(end + 4)
        requests++
        if (!isSlow && path !== '/robots.txt') fast.push({ atMs: performance.now(), requests })
        answer(socket, path, isSlow)
      }
    })
    socket.on('error', () => socket.destroy())
    socket.on('close', () => open--)
  })
  process.on('message', () => {
    const [first, last] = [fast[0], fast.at(-1)]
    const between = first === undefined || last === undefined ? 0 : last.requests - first.requests
    const seen: Seen = {
      open,
      openMost,
      requests,
      fastPages: fast.length,
      fastSeconds: first === undefined || last === undefined ? 0 : (last.atMs - first.atMs) / 1_000,
      fastShare: between === 0 ? 0 : fast.length / between,
    }
    process.send?.(seen)
    openMost = open
    requests = 0
    fast = []
  })
  process.on('disconnect', () => process.exit())
  server.listen({ port: 0, host: '0.0.0.0', backlog: 65_535 }, () => {
    process.send?.((server.address() as AddressInfo).port)
  })
}

function notFound(): string {
  return 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n'
}

/** Page `number` links to the next few, so that all are found and none is waited for. */
function page(number: number, pages: number): string {
  let body = `<!doctype html><title>${number}</title>`
  for (let next = number * LINKS_MAX + 1; next <= (number + 1) * LINKS_MAX && next < pages; next++) {
    body += `<a href="/${next}">${next}</a>`
  }
  body += `<p>${'wind and weather '.repeat(200)}</p>`
  return `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${body.length}\r\n\r\n${body}`
}

interface Measured extends Seen {
  readonly crawl: string
  readonly pages: number
  readonly seconds: number
  readonly cpuMicrosPerPage: number
  readonly peakRssBytes: number
  readonly fastPagesPerSecond: number
}

async function measure(crawl: string, server: ChildProcess, seeds: readonly string[]): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-slow-hosts-'))
  try {
    const seedFile = join(folder, 'seeds.txt')
    writeFileSync(seedFile, `${seeds.join('\n')}\n`)
    const bin = fileURLToPath(new URL('../bin/portolan.js', import.meta.url))
    const config = join(folder, 'portolan.config.json')
    writeFileSync(config, JSON.stringify({ fetch: { connectionsKept: Number(values.connections) } }))
    const flags = ['--allow-private', '--delay', '0ms', '--warc', 'off', '--json', '--progress', 'none']
    const speed = ['--connections', values.connections, '--agents', values.agents, '--config', config]
    const child = spawn(
      process.execPath,
      [bin, 'crawl', '--seeds', seedFile, '--dir', join(folder, 'crawl'), ...flags, ...speed],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    )
    let said = ''
    child.stdout.on('data', (piece: Buffer) => {
      said += piece.toString()
    })
    let cpuSeconds = 0
    const watch = setInterval(() => {
      cpuSeconds = cpuSecondsOf(child.pid) ?? cpuSeconds
    }, 200)
    await new Promise((resolve) => child.on('close', resolve))
    clearInterval(watch)
    const summary = JSON.parse(said) as { pages: number; peakRssBytes: number; seconds: number; cpuSeconds: number }
    const seen = await ask(server)
    return {
      crawl,
      ...seen,
      pages: summary.pages,
      seconds: summary.seconds,
      cpuMicrosPerPage: Math.round((Math.max(cpuSeconds, summary.cpuSeconds) / summary.pages) * 1e6),
      peakRssBytes: summary.peakRssBytes,
      fastPagesPerSecond: seen.fastSeconds === 0 ? 0 : Math.round(seen.fastPages / seen.fastSeconds),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function cpuSecondsOf(pid = 0): number | null {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS
  } catch {
    // It has ended.
    return null
  }
}

function ask(server: ChildProcess): Promise<Seen> {
  return new Promise((resolve) => {
    server.once('message', (seen) => resolve(seen as Seen))
    server.send('figures')
  })
}

function print(one: Measured): void {
  const fastPart =
    one.fastPages === 0
      ? ''
      : `; fast: ${one.fastPagesPerSecond} pages/s, ${Math.round(one.fastShare * 100)} % of all requests meanwhile`
  console.log(
    `${one.crawl.padEnd(5)} ${one.pages} pages in ${one.seconds.toFixed(1)} s, ${one.openMost} connections open at most, ` +
      `${one.cpuMicrosPerPage} µs CPU/page, ${Math.round(one.peakRssBytes / 2 ** 20)} MiB, load ${(loadavg()[0] ?? 0).toFixed(1)}${fastPart}`,
  )
}

async function main(): Promise<void> {
  const server = fork(fileURLToPath(import.meta.url), [...process.argv.slice(2), 'serve'])
  const port = await new Promise<number>((resolve) => server.once('message', (said) => resolve(Number(said))))
  try {
    const seed = (first: number, k: number): string =>
      `http://127.${first + (k >> 16)}.${(k >> 8) & 255}.${k & 255}:${port}/0`
    const slow = Array.from({ length: Number(values.slow) }, (_, k) => seed(1, k + 1))
    const fast = Array.from({ length: Number(values.fast) }, (_, k) => seed(0, k + 256))
    const all: Measured[] = []
    for (const [crawl, seeds] of Object.entries({ fast, slow, both: [...slow, ...fast] })) {
      const one = await measure(crawl, server, seeds)
      all.push(one)
      print(one)
    }
    const openMost = Math.max(...all.map((one) => one.openMost))
    console.log(`connections open at once: ${openMost} (bar ${OPEN_BAR})${openMost < OPEN_BAR ? ', missed' : ''}`)
    if (openMost < OPEN_BAR) process.exitCode = 1
    if (values.json === undefined) return
    const machine = `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`
    const about = { bench: 'slow-hosts', date: new Date().toISOString(), machine, node: process.version }
    const { json, ...options } = values
    writeFileSync(json, `${JSON.stringify({ ...about, options, crawls: all }, null, 1)}\n`)
    console.log(`wrote ${json}`)
  } finally {
    server.disconnect()
  }
}

if (positionals.includes('serve')) serve()
else await main()
