// Serves the control API, and the dashboard's files, over whatever connections it is given.
//
//   connection ─▶ bounds (size, number, time) ─▶ auth.ts ─▶ check-request.ts ─▶ CrawlSource ─▶ JSON
//                                                     └▶ live-stream.ts, metrics, openapi.ts, dashboard-files.ts
//
// Loaded when somebody asks, never before (index.ts). It keeps nothing of a crawl: that is for the sources.

import { STATUS_CODES } from 'node:http'
import { isIPv6, type Socket } from 'node:net'
import { fastify, type FastifyReply, type FastifyRequest } from 'fastify'
import { Fault } from '../base/index.ts'
import { judgeContentType, judgeRequest, type RequestHead } from './auth.ts'
import { checkRequest } from './check-request.ts'
import type { Asker, CrawlSource, CrawlSources } from './crawl-source.ts'
import { BUILD_COMMAND, findDashboard, loadDashboard } from './dashboard-files.ts'
import { listCrawls } from './list-crawls.ts'
import { LiveStream } from './live-stream.ts'
import { joinMetrics, METRICS_TYPE } from './metrics.ts'
import { openApiDocument } from './openapi.ts'
import { LIVE_PATH, PATHS, type RouteName } from './paths.ts'
import { refusalOf, refuse, type Refusal } from './refusals.ts'

/** Every limit of the server. */
const BODY_BYTES_MAX = 1 << 20
const HEADER_BYTES_MAX = 16 << 10
const HEADERS_MAX = 100
const CONNECTIONS_MAX = 256
const LIVE_STREAMS_MAX = 64
/** For the head of a request, for all of it, and how often that is looked at. */
const PATIENCE = { headMs: 10_000, requestMs: 30_000, lookEveryMs: 2_000 }
/** How long an answer may wait for a reader who does not read. */
const STALL_MS_MAX = 30_000
const IDLE_MS_MAX = 30_000
/** All that is no path of the API. */
const FILES_PATH = '/*'
/** Answers under way when the server is closed. */
const CLOSING_MS_MAX = 3_000

export interface ServerOptions {
  /** 'none' on a unix socket only: whoever may open it may steer. */
  readonly auth: 'none' | { readonly token: string }
  /** Also the files of the dashboard. */
  readonly hasDashboard: boolean
  readonly version?: string
  /** Where the dashboard is built; found by itself unless said. */
  readonly dashboardDir?: string | null
  /** With those who send slowly; tests have less. */
  readonly patience?: typeof PATIENCE
  /** What is no fault and was thrown all the same: a mistake of ours, told to whoever runs the server. */
  readonly onBroken?: (cause: unknown) => void
}

export interface ControlServer {
  /** Takes over a connection that a listener elsewhere accepted. */
  take(socket: Socket): void
  /** Listens itself; port 0 chooses one. The link opens the dashboard; its token is in the fragment, which no server is sent. */
  listen(host: string, port: number): Promise<{ readonly port: number; readonly link: string }>
  close(): Promise<void>
}

export async function createServer(sources: CrawlSources, options: ServerOptions): Promise<ControlServer> {
  const { auth, hasDashboard, version = '0', onBroken = () => undefined, patience = PATIENCE } = options
  let listensOn = 'localhost'
  const lives = new Set<LiveStream>()
  const files = hasDashboard
    ? await loadDashboard(options.dashboardDir === undefined ? findDashboard() : options.dashboardDir)
    : new Map<string, never>()
  const app = fastify({
    bodyLimit: BODY_BYTES_MAX,
    requestTimeout: patience.requestMs,
    keepAliveTimeout: IDLE_MS_MAX,
    http: {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: patience.headMs,
      connectionsCheckingInterval: patience.lookEveryMs,
    },
    // An id or a host that is longer is none.
    routerOptions: { maxParamLength: 1_000 },
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    clientErrorHandler: answerNonsense,
    // A path that cannot be read: nothing below ever sees it.
    frameworkErrors: (_, __, reply) => void send(reply, refuse('REQUEST_UNREADABLE')),
  })
  app.server.maxConnections = CONNECTIONS_MAX
  app.removeContentTypeParser('text/plain')

  app.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply)
    const head = headOf(request)
    const refused =
      request.raw.rawHeaders.length > 2 * HEADERS_MAX
        ? 'HEADERS_TOO_LARGE'
        : ((auth === 'none' ? null : judgeRequest(head, { token: auth.token, listensOn })) ?? judgeContentType(head))
    if (refused !== null) return send(reply, refuse(refused))
  })
  // From here on all that is left is to read it.
  app.addHook('onSend', async (request) => {
    request.raw.socket.setTimeout(STALL_MS_MAX)
  })
  app.setErrorHandler((cause, _, reply) => send(reply, answerTo(cause, onBroken)))
  app.setNotFoundHandler(nothingThere)

  for (const name of Object.keys(PATHS) as RouteName[]) {
    const { method, path } = PATHS[name]
    app.route({
      method,
      url: path,
      handler: async (request, reply) => {
        const checked = checkRequest(name, fieldsOf(request.params), fieldsOf(request.query), request.body ?? null)
        if (checked.kind === 'problems') return send(reply, refuse('FIELDS_INVALID', { fields: checked.fields }))
        const answer = await ask(sources, name, checked.crawl, checked.asked, askerOf(request))
        return reply.type('application/json; charset=utf-8').send(JSON.stringify(answer))
      },
    })
  }
  app.get(LIVE_PATH, async (request, reply) => {
    const source = await find(sources, String(fieldsOf(request.params)['crawl']))
    if (lives.size >= LIVE_STREAMS_MAX) return send(reply, refuse('TOO_MANY_READERS'))
    const first = await source.crawl({}, askerOf(request))
    reply.hijack()
    // Gone while that was found out: nothing would tell us so again.
    if (reply.raw.destroyed) return
    const live = new LiveStream(reply.raw)
    lives.add(live)
    reply.raw.on('close', () => lives.delete(live))
    live.begin(source, first)
  })
  app.get('/metrics', async (_, reply) => {
    const texts: string[] = []
    for (const source of await sources.list()) texts.push(await source.metrics())
    return reply.type(METRICS_TYPE).send(joinMetrics(texts))
  })
  app.get('/api/openapi.json', async (_, reply) => reply.send(openApiDocument(version)))
  if (hasDashboard) {
    app.get(FILES_PATH, async (request, reply) => {
      const path = request.url.split('?', 1)[0] ?? ''
      const file = files.get(path)
      if (file !== undefined) {
        return reply
          .type(file.type)
          .header('cache-control', file.cacheControl)
          .send(await file.read())
      }
      if (path !== '/') return nothingThere(request, reply)
      const message = `The dashboard is not built. In a clone of the project, \`${BUILD_COMMAND}\` builds it; then start this again.\n`
      return reply.code(503).type('text/plain; charset=utf-8').send(message)
    })
  }
  await app.ready()

  return {
    take: (socket) => void app.server.emit('connection', socket),
    async listen(host, port) {
      listensOn = host
      // By this name fastify would listen twice, with two sets of limits.
      await app.listen({ host: host === 'localhost' ? '127.0.0.1' : host, port }).catch((cause: unknown) => {
        throw cannotListen(host, port, cause)
      })
      const bound = app.server.address()
      const chosen = typeof bound === 'object' && bound !== null ? bound.port : port
      const fragment = auth === 'none' ? '' : `#token=${auth.token}`
      return { port: chosen, link: `http://${linkHost(host)}:${chosen}/${fragment}` }
    },
    async close() {
      for (const live of lives) live.end()
      const cut = setTimeout(() => app.server.closeAllConnections(), CLOSING_MS_MAX)
      try {
        await app.close()
        app.server.closeAllConnections()
      } finally {
        clearTimeout(cut)
      }
    },
  }
}

type Ask = (asked: Readonly<Record<string, unknown>>, asker: Asker) => Promise<unknown>

/** What was asked was checked by the schemas that its type comes from: past here the compiler takes over again. */
async function ask(
  sources: CrawlSources,
  name: RouteName,
  crawl: string | null,
  asked: Readonly<Record<string, unknown>>,
  asker: Asker,
): Promise<unknown> {
  if (name === 'crawls') {
    return { crawls: await listCrawls(await sources.list(), asker) }
  }
  if (name === 'create') {
    if (sources.create === null) throw new Fault('CONTROL_REFUSED', 'crawls cannot be begun here')
    const source = await (sources.create as unknown as (...args: Parameters<Ask>) => Promise<CrawlSource>)(asked, asker)
    return source.crawl({}, asker)
  }
  const source = await find(sources, crawl ?? '')
  // A method of the source, not a bare function: it may be a class.
  return (source as unknown as Record<string, Ask>)[name]?.(asked, asker)
}

async function find(sources: CrawlSources, id: string): Promise<CrawlSource> {
  const source = await sources.find(id)
  if (source === null) throw new Fault('CONTROL_UNKNOWN', `there is no crawl '${id.slice(0, 100)}' here`)
  return source
}

function headOf({ raw, url, method, routeOptions }: FastifyRequest): RequestHead {
  const { headers } = raw
  return {
    method,
    path: url,
    // Never by the path as it was sent: `/%61pi` and `http://localhost/api` are paths of the API too.
    isFile: routeOptions.url === FILES_PATH,
    host: headers.host,
    origin: headers.origin,
    fetchSite: one(headers['sec-fetch-site']),
    authorization: headers.authorization,
    contentType: headers['content-type'],
    localAddress: raw.socket.localAddress,
  }
}

const WHO = /^[\w .:[\]%-]{1,100}$/

/** What callers say of themselves is for the record, and proves nothing; where they are is added if that is not here. */
function askerOf({ raw }: FastifyRequest): Asker {
  const said = one(raw.headers['x-portolan-who']) ?? ''
  const who = WHO.test(said) ? said : 'api'
  const from = raw.socket.remoteAddress?.replace(/^::ffff:/, '') ?? ''
  return { who: from === '' || from === '::1' || from.startsWith('127.') ? who : `${who} from ${from}` }
}

function one(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined
}

function fieldsOf(params: unknown): Readonly<Record<string, unknown>> {
  return typeof params === 'object' && params !== null ? { ...params } : {}
}

function send(reply: FastifyReply, { status, error }: Refusal): FastifyReply {
  if (status === 401) reply.header('www-authenticate', 'Bearer')
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify({ error }))
}

/** Nothing of ours is shown inside of another page, takes script from elsewhere, is kept by a cache or sent on as a referrer. */
function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers({
    'content-security-policy':
      "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'",
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'cache-control': 'no-store',
  })
}

/** What fastify itself refuses, in our words. */
function answerTo(cause: unknown, onBroken: (cause: unknown) => void): Refusal {
  const code = (cause as { readonly code?: unknown } | null)?.code
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return refuse('BODY_TOO_LARGE')
  if (code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') return refuse('NOT_JSON')
  const status = (cause as { readonly statusCode?: unknown } | null)?.statusCode
  if (typeof code === 'string' && code.startsWith('FST_') && status === 400) return refuse('BODY_UNREADABLE')
  if (cause instanceof SyntaxError && status === 400) return refuse('BODY_UNREADABLE')
  const refusal = refusalOf(cause)
  if (refusal.error.code === 'BROKEN') onBroken(cause)
  return refusal
}

function nothingThere(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const allowed = methodsAt(request.url)
  if (allowed.length === 0 || allowed.includes(request.method)) return send(reply, refuse('NO_SUCH_PATH'))
  return send(reply.header('allow', allowed.join(', ')), refuse('WRONG_METHOD'))
}

function methodsAt(url: string): string[] {
  const path = url.split('?', 1)[0] ?? ''
  const others = [LIVE_PATH, '/metrics', '/api/openapi.json'].map((path) => ({ method: 'GET', path }))
  const here = [...Object.values(PATHS), ...others].filter((route) =>
    new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`).test(path),
  )
  return [...new Set(here.map(({ method }) => method))]
}

/** What is no HTTP, too large or too slow is answered in a word where that is still possible, and cut. */
function answerNonsense(cause: NodeJS.ErrnoException, socket: Socket): void {
  if (cause.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const refused = refuse(cause.code === 'HPE_HEADER_OVERFLOW' ? 'HEADERS_TOO_LARGE' : 'REQUEST_UNREADABLE')
  const body = JSON.stringify({ error: refused.error })
  socket.end(
    `HTTP/1.1 ${refused.status} ${STATUS_CODES[refused.status]}\r\ncontent-type: application/json\r\n` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
    () => socket.destroy(),
  )
}

function linkHost(host: string): string {
  // Everywhere is no place to go to.
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

function cannotListen(host: string, port: number, cause: unknown): Fault {
  const { code = '', message } = cause as NodeJS.ErrnoException
  const where = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const why =
    {
      EADDRINUSE: `port ${port} is taken; choose another`,
      EACCES: `port ${port} is not ours to use; take one from 1024 on`,
      EADDRNOTAVAIL: `this machine does not have the address ${host}`,
      ENOTFOUND: `there is no address for ${host}`,
    }[code] ?? message
  return new Fault('CONFIG_INVALID', `cannot listen on ${where}: ${why}`, cause)
}
