// Crawls of real servers that are no web servers: everything is found, kept as it came, and archived as what it is.

import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { Certificates } from '../../testweb/serve/certificates.ts'
import { startPyftpd, startPygopherd, startVsftpd } from '../real-servers.ts'
import { checkWarcFile } from '../warc-check.ts'
import { crawl, type CrawlResult, FAST, temporaryDirectory } from './run-crawl.ts'

let root: string
beforeAll(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'portolan-corpus-')))
  mkdirSync(join(root, 'pub/deep'), { recursive: true })
  writeFileSync(join(root, 'index.html'), '<title>Home</title><a href="pub/">all</a><a href="none.txt">x</a>')
  writeFileSync(join(root, 'pub/a b%41.txt'), 'odd name')
  writeFileSync(Buffer.from(`${root}/pub/caf\xe9`, 'latin1'), 'latin')
  writeFileSync(join(root, 'pub/café'), 'utf-8')
  writeFileSync(join(root, 'pub/deep/big.bin'), Buffer.alloc(300_000, 'x'))
  writeFileSync(join(root, 'robots.txt'), 'User-agent: *\nDisallow: /private\nDisallow: /1/private\n')
  mkdirSync(join(root, 'private'))
  writeFileSync(join(root, 'private/secret.txt'), 'secret')
  symlinkSync('pub', join(root, 'link'))
  for (const path of ['', 'pub', 'pub/deep', 'private']) chmodSync(join(root, path), 0o755)
})
afterAll(() => rmSync(root, { recursive: true }))

const summary = (result: CrawlResult, origin: string): string[] =>
  result.pages
    .filter(({ url }) => url.startsWith(origin))
    .map(({ url, status, type, bytes }) => `${url.slice(origin.length)} ${status} ${type} ${bytes}`)
    .toSorted()

function warcFiles(dir: string): string[] {
  const folder = join(dir, 'archive')
  return readdirSync(folder)
    .filter((name) => name.endsWith('.warc'))
    .map((name) => join(folder, name))
}

/** All WARC files of a crawl, as text. */
function archiveOf(dir: string): string {
  return warcFiles(dir)
    .map((file) => readFileSync(file, 'latin1'))
    .join('')
}

describe('an FTP server', () => {
  const FILES = [
    '/index.html 226 text/html 65',
    '/pub/a%20b%2541.txt 226 text/plain 8',
    '/pub/caf%C3%A9 226 null 5',
    '/pub/deep/big.bin 226 null 300000',
    '/robots.txt 226 text/plain 54',
  ]

  test('is crawled whole (vsftpd), by its robots.txt, and archived as resources', async () => {
    await using server = await startVsftpd(root)
    const dir = temporaryDirectory(onTestFinished)
    const origin = `ftp://127.0.0.1:${server.port}`
    const result = await crawl({ seeds: [`${origin}/`], dir })
    expect(summary(result, origin).filter((line) => !line.includes('listing'))).toEqual(
      [...FILES, '/pub/caf%E9 226 null 5', '/link 301 null 0', '/link/ 301 null 0'].toSorted(),
    )
    expect(result.failures.map(({ url, reason }) => `${url.slice(origin.length)} ${reason}`).toSorted()).toEqual([
      '/none.txt FETCH_NOT_AVAILABLE',
      '/private/ robots',
    ])
    const log = readFileSync(join(server.folder, 'log'), 'utf8')
    expect(log.match(/OK LOGIN/g)).toHaveLength(1)
    for (const file of warcFiles(dir)) expect(checkWarcFile(file).problems).toEqual([])
    const archive = archiveOf(dir)
    expect(archive).toContain(
      `WARC-Target-URI: ${origin}/pub/a%20b%2541.txt\r\nWARC-IP-Address: 127.0.0.1\r\nWARC-Payload-Digest: `,
    )
    expect(archive).toMatch(
      /WARC-Type: resource\r\n[^]*?Content-Type: text\/plain\r\nContent-Length: 8\r\n\r\nodd name\r\n/,
    )
    expect(archive).toContain('Content-Type: text/x-ftp-control-conversation\r\n')
    expect(archive).not.toContain('HTTP/1')
    // Nothing came for what is only called otherwise.
    expect(archive).not.toContain(`${origin}/link\r\n`)
    expect(readFileSync(join(dir, 'archive/index.cdxj'), 'utf8')).toContain(`)/pub/caf%c3%a9 `)
  })

  test('that knows MLSD is crawled by it (pyftpdlib), going on where it was stopped', async () => {
    await using server = await startPyftpd(root)
    const dir = temporaryDirectory(onTestFinished)
    const origin = `ftp://127.0.0.1:${server.port}`
    const first = await crawl({ seeds: [`${origin}/`], dir, flags: { ...FAST, 'max-pages': '3' } })
    expect(first.reason).toBe('max-pages')
    const result = await crawl({ seeds: [], dir, flags: { ...FAST, exclude: ['/link/'] } })
    expect(summary(result, origin).filter((line) => !line.includes('listing') && !line.includes('/caf'))).toEqual(
      FILES.filter((line) => !line.includes('/caf')),
    )
  })

  test('is crawled by the one of two agents that owns it', async () => {
    await using server = await startVsftpd(root)
    const origin = `ftp://127.0.0.1:${server.port}`
    const flags = { ...FAST, scope: 'prefix' }
    const dir = temporaryDirectory(onTestFinished)
    const result = await crawl({ seeds: [`${origin}/pub/deep/`], dir, flags, agents: 2 })
    expect(summary(result, origin).filter((line) => !line.includes('listing'))).toEqual([
      '/pub/deep/big.bin 226 null 300000',
    ])
  })

  test.each([true, false])('is spoken to by TLS (implicit: %s), data included', async (isImplicit) => {
    const certificates = new Certificates(Date.now())
    const caFile = join(temporaryDirectory(onTestFinished), 'ca.pem')
    writeFileSync(caFile, certificates.authority)
    const pem = certificates.key + certificates.certificateFor('127.0.0.1')
    await using server = await startVsftpd(root, { pem, isImplicit })
    const origin = `${isImplicit ? 'ftps' : 'ftp'}://127.0.0.1:${server.port}`
    const dir = temporaryDirectory(onTestFinished)
    const config = { fetch: { ftpTls: 'require', caFile } }
    const result = await crawl({ seeds: [`${origin}/pub/`], dir, config, flags: { ...FAST, scope: 'prefix' } })
    expect(summary(result, origin).filter((line) => !line.includes('listing'))).toEqual(
      [...FILES.filter((line) => line.startsWith('/pub/')), '/pub/caf%E9 226 null 5'].toSorted(),
    )
    const stranger = await crawl({
      seeds: [`${origin}/pub/`],
      dir: temporaryDirectory(onTestFinished),
      config: { fetch: { ftpTls: 'require' } },
    })
    expect(stranger.failures).toMatchObject([{ reason: 'FETCH_TLS_FAILED' }])
  })
})

describe('files', () => {
  test('below a directory that is named are crawled, each under one name', async () => {
    const dir = temporaryDirectory(onTestFinished)
    const flags = { delay: '0ms', warc: 'none', 'allow-files': [root] }
    const result = await crawl({ seeds: [`file://${root}/`], dir, flags })
    expect(summary(result, `file://localhost${root}`).filter((line) => !line.includes('listing'))).toEqual([
      '/index.html 200 text/html 65',
      '/link 301 null 0',
      '/private/secret.txt 200 text/plain 6',
      '/pub/a%20b%2541.txt 200 text/plain 8',
      '/pub/caf%C3%A9 200 null 5',
      '/pub/caf%E9 200 null 5',
      '/pub/deep/big.bin 200 null 300000',
      '/robots.txt 200 text/plain 54',
    ])
    expect(result.failures).toMatchObject([{ reason: 'FETCH_NOT_AVAILABLE', detail: 'ENOENT' }])
  })

  test('are not read without leave', async () => {
    const dir = temporaryDirectory(onTestFinished)
    const result = await crawl({ seeds: [`file://${root}/`], dir })
    expect(result.pages).toEqual([])
    expect(result.failures).toMatchObject([{ kind: 'skipped', reason: 'files-not-allowed' }])
  })
})

// Last: it leaves notes of its own in every directory.
test('a Gopher server is crawled whole (pygopherd), by its robots.txt, and archived as resources', async () => {
  await using server = await startPygopherd(root)
  const origin = `gopher://127.0.0.1:${server.port}`
  const dir = temporaryDirectory(onTestFinished)
  const result = await crawl({ seeds: [`${origin}/`], dir, flags: { ...FAST, exclude: ['/1/link'] } })
  expect(summary(result, origin).filter((line) => !line.includes('menu'))).toEqual([
    '/0/pub/a%20b%2541.txt 200 text/plain 8',
    '/0/pub/caf%C3%A9 200 text/plain 5',
    '/0/pub/caf%E9 200 text/plain 5',
    '/9/pub/deep/big.bin 200 null 300000',
    '/h/index.html 200 text/html 65',
    '/h/pub/ 200 text/html 150',
  ])
  expect(result.failures.map(({ url, reason }) => `${url.slice(origin.length)} ${reason}`).toSorted()).toEqual([
    '/1/private robots',
    '/h/none.txt FETCH_NOT_AVAILABLE',
  ])
  const archive = archiveOf(dir)
  expect(archive).toContain('Content-Type: application/gopher-menu\r\n')
  expect(archive).toContain(`WARC-Target-URI: ${origin}/0/robots.txt\r\n`)
})
