// What it costs to put finished WARC files on a shelf: CPU of the process that crawls, per MiB, and the most that its event
// loop is held up. The store is a process of its own.
//
//   node bench/shelf.ts [MiB]

import { fork } from 'node:child_process'
import { createServer } from 'node:http'
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Random, systemClock } from '../src/base/index.ts'
import { openShelf } from '../src/shelf/index.ts'
import { shelfOptions } from '../src/shelf/options.ts'

const MIB = 2 ** 20

if (process.send !== undefined) {
  // Swallows everything and remembers what it must say of it: the client is measured, not the store.
  const known = new Map<string, { bytes: number; sha256: string }>()
  const begun = new Map<string, { bytes: number; sha256: string }>()
  const server = createServer((request, response) => {
    let bytes = 0
    request.on('data', (piece: Buffer) => (bytes += piece.length))
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
      const sha256 = String(request.headers['x-amz-meta-sha256'] ?? '')
      const found = known.get(pathname)
      const upload = begun.get(pathname)
      if (request.method === 'HEAD' && found === undefined) response.writeHead(404)
      else if (request.method === 'HEAD' && found !== undefined) {
        response.writeHead(200, { 'content-length': found.bytes, 'x-amz-meta-sha256': found.sha256, etag: '"e"' })
      } else if (searchParams.has('uploads') && request.method === 'POST') begun.set(pathname, { bytes: 0, sha256 })
      else if (searchParams.has('partNumber') && upload !== undefined) upload.bytes += bytes
      else if (request.method === 'POST' && upload !== undefined) known.set(pathname, upload)
      else if (request.method === 'PUT') known.set(pathname, { bytes, sha256 })
      if (!response.headersSent) response.writeHead(200, { etag: '"e"' })
      response.end(request.method === 'HEAD' ? '' : '<r><UploadId>u</UploadId><ETag>"e"</ETag></r>')
    })
  })
  server.listen(0, '127.0.0.1', () => process.send?.((server.address() as AddressInfo).port))
} else await measure(Number(process.argv[2] ?? 256))

async function measure(mib: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-bench-shelf-'))
  const store = fork(import.meta.filename)
  try {
    const port = await new Promise<number>((resolve) => store.once('message', (said) => resolve(said as number)))
    mkdirSync(join(folder, 'shelf'))
    const path = join(folder, 'file')
    const random = new Random('shelf')
    const block = Buffer.alloc(MIB)
    for (let at = 0; at < MIB; at += 4) block.writeUInt32LE(random.next32(), at)
    writeFileSync(path, '')
    for (let one = 0; one < mib; one++) writeFileSync(path, block, { flag: 'a' })
    for (const to of [`file://${folder}/shelf`, 's3://bucket/p']) {
      const options = shelfOptions.parse({ to, endpoint: `http://127.0.0.1:${port}` })
      const environment = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }
      const shelf = await openShelf({ options, folder: 'c', environment, clock: systemClock, random })
      const delay = monitorEventLoopDelay({ resolution: 1 })
      delay.enable()
      const before = process.cpuUsage()
      const startMs = performance.now()
      await shelf.put('archive/x.warc.gz', path, { signal: new AbortController().signal, onBytes: () => {} })
      const { user, system } = process.cpuUsage(before)
      delay.disable()
      const cpuMs = (user + system) / 1_000
      console.log(
        `${to.slice(0, 4)}  ${(cpuMs / mib).toFixed(2)} ms of CPU per MiB, ${(mib / ((performance.now() - startMs) / 1_000)).toFixed(0)} MiB/s, ` +
          `event loop late by ${(delay.percentile(99) / 1e6).toFixed(1)} ms in one of 100, rss ${(process.memoryUsage.rss() / MIB).toFixed(0)} MiB`,
      )
      shelf.close()
    }
  } finally {
    store.kill()
    rmSync(folder, { recursive: true })
  }
}
