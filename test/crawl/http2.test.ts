// A crawl over HTTP/2 is the crawl over HTTP/1.1: the same pages with the same bytes, from a real server (nginx) that offers
// both, by two agents; and the archive says which it was.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Certificates } from '../../testweb/serve/certificates.ts'
import { checkArchive } from '../archive-check.ts'
import { bodyProblems } from './check-bodies.ts'
import { freePort, type Nginx, runNginx } from './nginx.ts'
import { crawl, type CrawlResult, FAST, QUICK_BACKOFF, temporaryDirectory } from './run-crawl.ts'

const HOSTS = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.0.0.4']
const PAGES = 12

function page(n: number, origins: readonly string[]): string {
  const next = origins.map((origin) => `<a href="${origin}/docs/${(n + 1) % PAGES}.html">${origin}</a>`).join(' ')
  return `<!doctype html><title>Page ${n}</title><p>${`words of page ${n}, `.repeat(n * 400)}</p>${next}
    <a href="../docs">no slash</a> <a href="missing-${n % 3}.html">missing</a> <a href="../secret/x.html">secret</a>`
}

interface SecureNginx extends Pick<Nginx, 'logPath'> {
  readonly seeds: readonly string[]
}

async function startSecureNginx(): Promise<SecureNginx> {
  const folder = temporaryDirectory(onTestFinished)
  const certificates = new Certificates(Date.now())
  writeFileSync(join(folder, 'cert.pem'), certificates.certificateFor('127.0.0.1'))
  writeFileSync(join(folder, 'key.pem'), certificates.key)
  const port = await freePort()
  const origins = HOSTS.map((host) => `https://${host}:${port}`)
  const files: Record<string, string> = { 'robots.txt': 'User-agent: *\nDisallow: /secret/\n' }
  files['docs/index.html'] = page(0, origins)
  for (let n = 0; n < PAGES; n++) files[`docs/${n}.html`] = page(n, origins)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, 'root', name)), { recursive: true })
    writeFileSync(join(folder, 'root', name), text)
  }
  const logPath = join(folder, 'access.log')
  const server = await runNginx({
    folder,
    address: '127.0.0.1',
    port,
    connectionsMax: 256,
    http: `types { text/html html; text/plain txt; } gzip on; gzip_min_length 500; absolute_redirect off;
      log_format short '$server_protocol $server_addr $uri $status'; access_log ${logPath} short;
      ssl_certificate ${folder}/cert.pem; ssl_certificate_key ${folder}/key.pem;
      server { listen 0.0.0.0:${port} ssl http2; root ${folder}/root; }`,
  })
  onTestFinished(() => server.stop())
  return { seeds: origins.map((origin) => `${origin}/docs/`), logPath }
}

/** What must not depend on the protocol. */
function facts({ pages, failures }: CrawlResult): string[] {
  const lines = pages.map(({ url, status, digest, bytes, type }) => JSON.stringify([url, status, digest, bytes, type]))
  return [...lines, ...failures.map(({ url, reason }) => `${url} ${reason}`)].toSorted()
}

test('the same pages and bytes over either, with two agents, and the archive says which it was', async () => {
  const { seeds, logPath } = await startSecureNginx()
  const run = async (http2: string, agents: number): Promise<{ result: CrawlResult; asked: string[] }> => {
    const before = readFileSync(logPath, 'utf8').length
    const result = await crawl({
      seeds,
      dir: temporaryDirectory(onTestFinished),
      flags: { ...FAST, http2, warc: 'gzip', traps: 'off' },
      config: { ...QUICK_BACKOFF, fetch: { tls: 'accept-any' } },
      agents,
    })
    const asked = readFileSync(logPath, 'utf8').slice(before).trim().split('\n')
    return { result, asked }
  }
  const one = await run('off', 0)
  const two = await run('offered', 2)
  expect(one.result.pages.length).toBeGreaterThan(HOSTS.length * PAGES)
  expect(facts(two.result)).toEqual(facts(one.result))
  // Each request once, and in the protocol that was agreed on.
  const requests = (asked: string[]): string[] => asked.map((line) => line.replace(/^HTTP\S+ /, '')).toSorted()
  expect(requests(two.asked)).toEqual(requests(one.asked))
  expect(one.asked.every((line) => line.startsWith('HTTP/1.1 '))).toBe(true)
  expect(two.asked.every((line) => line.startsWith('HTTP/2.0 '))).toBe(true)

  for (const [{ result }, protocol] of [
    [one, null],
    [two, 'h2'],
  ] as const) {
    const { files, problems } = checkArchive(result.dir)
    expect(problems).toEqual([])
    expect(bodyProblems(result.pages, files)).toEqual([])
    const records = [...files.values()].flat().filter((record) => /response|revisit|request/.test(record.type))
    expect(records.length).toBeGreaterThanOrEqual(2 * result.pages.length)
    for (const record of records) {
      expect(record.field('WARC-Protocol')).toBe(protocol)
      expect(record.block.toString('latin1')).toMatch(/^(GET \S+ HTTP\/1\.1|HTTP\/1\.1 \d{3} [A-Z][^\r]*)\r\n/)
    }
  }
})
