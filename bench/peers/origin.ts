// The web that all contenders crawl: pages of the test web as files, served by nginx. It is cheap, it is nobody's relative, and
// its access log says what was asked, whatever a contender says of itself.
//
//    test web as a value ──▶ files ──▶ nginx on 127.1.0.1, 127.1.0.2 … (one address, one host) ──▶ access log ──▶ judge.ts
//
// Links hold the port, so the port is chosen first.

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { freePort, runNginx } from '../../test/crawl/nginx.ts'
import { Certificates, truth, Web } from '../../testweb/index.ts'

export const ORIGIN_KINDS = ['plain', 'gzip', 'https'] as const
export type OriginKind = (typeof ORIGIN_KINDS)[number]

export interface OriginOptions {
  readonly kind: OriginKind
  readonly hosts: number
  /** Pages of each host. */
  readonly pages: number
  /** Of a page, in the middle. */
  readonly bytes: number
}

export interface Origin {
  /** The root of every host, one a line. */
  readonly seedFile: string
  /** Every page a crawl of the seeds must fetch. */
  readonly pages: ReadonlySet<string>
  readonly meanBytes: number
  /** In PEM, to be trusted; null without https. */
  readonly authorityFile: string | null
  /** Lines of `METHOD URL STATUS CODING`, since the last call; they are forgotten. */
  takeLog(): string[]
  /** Processor time that the server has taken since it began. */
  cpuSeconds(): number
  stop(): Promise<void>
}

const SEED = 'peers'
const CONNECTIONS_MAX = 10_000
/** Of the kernel's books, on every Linux of today. */
const TICK_SECONDS = 0.01

export async function startOrigin({ kind, hosts, pages, bytes: meanBytes }: OriginOptions): Promise<Origin> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-origin-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const web = new Web({ seed: SEED, hosts, pages, meanBytes }, { http: port, https: null })
  // The test web has its odd hosts alone on https; here all are, or none. Its tidy hand writes the scheme in one way only.
  const onScheme = (text: string): string => (kind === 'https' ? text.replaceAll('http://127.', 'https://127.') : text)

  const urls = [...truth(web, { seeds: web.seeds() }).pages.keys()]
  let bytes = 0
  for (const url of urls) {
    const body = onScheme((web.body(url) ?? Buffer.alloc(0)).toString('latin1'))
    const path = join(folder, 'sites', fileOf(url))
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, body, 'latin1')
    if (kind === 'gzip') writeFileSync(`${path}.gz`, gzipSync(Buffer.from(body, 'latin1')))
    bytes += body.length
  }
  const seedFile = join(folder, 'seeds.txt')
  writeFileSync(seedFile, `${web.seeds().map(onScheme).join('\n')}\n`)
  const certificates = kind === 'https' ? new Certificates(Date.now()) : null
  const authorityFile = certificates === null ? null : join(folder, 'authority.pem')
  if (certificates !== null) {
    writeFileSync(join(folder, 'authority.pem'), certificates.authority)
    writeFileSync(join(folder, 'key.pem'), certificates.key)
  }
  const addresses = web.seeds().map((url) => new URL(url).hostname)
  const servers = addresses.map((address) => {
    const site = `root ${folder}/sites/${address}; include ${folder}/site.conf;`
    if (certificates === null) return `server { listen ${address}:${port}; ${site} }`
    const certificate = join(folder, `${address}.pem`)
    writeFileSync(certificate, certificates.certificateFor(address))
    return `server { listen ${address}:${port} ssl; ssl_certificate ${certificate}; ssl_certificate_key ${folder}/key.pem; ${site} }`
  })
  writeFileSync(join(folder, 'site.conf'), siteConfig(urls))
  const logPath = join(folder, 'access.log')
  const server = await runNginx({
    folder,
    address: addresses[0] ?? '127.1.0.1',
    port,
    connectionsMax: CONNECTIONS_MAX,
    http: `
      default_type text/html; types { text/html html; text/plain txt; } charset utf-8; index index.html;
      log_format asked '$request_method $scheme://$server_addr:$server_port$request_uri $status $sent_http_content_encoding';
      # By the address that was asked: wget2 1.99 leaves the port out of its Host header.
      access_log ${logPath} asked; log_not_found off;
      sendfile on; tcp_nopush on; keepalive_timeout 75s; keepalive_requests 1000000; absolute_redirect off;
      open_file_cache max=8000 inactive=10m; open_file_cache_valid 10m;
      gzip_static ${kind === 'gzip' ? 'on' : 'off'};
      ${servers.join('\n')}`,
  })
  return {
    seedFile,
    pages: new Set(urls.map(onScheme)),
    meanBytes: bytes / urls.length,
    authorityFile,
    takeLog() {
      const lines = readFileSync(logPath, 'utf8').trimEnd().split('\n')
      // nginx appends, so it goes on at the new end.
      truncateSync(logPath)
      return lines
    },
    cpuSeconds: () => cpuSecondsOf(server.pid),
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Of one process, by the kernel's books. */
function cpuSecondsOf(pid: number): number {
  // Behind the name of the program, which may hold anything: state, then numbers.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS
}

/** The file of a page below `sites`: queries have an `id`, which stands in the name instead. */
function fileOf(url: string): string {
  const { hostname, pathname, searchParams } = new URL(url)
  const path = decodeURIComponent(pathname)
  const id = searchParams.get('id')
  if (id !== null) return `${hostname}${path}-${id}.html`
  return `${hostname}${path}${path.endsWith('/') ? 'index.html' : ''}`
}

/** How nginx finds the pages with queries. Exact locations: no patterns to be tried for all the others. */
function siteConfig(urls: readonly string[]): string {
  const paths = new Set(urls.filter((url) => url.includes('?')).map((url) => new URL(url).pathname))
  return [...paths].map((path) => `location = ${path} { try_files ${path}-$arg_id.html =404; }`).join('\n')
}
