// The server of the control API: who is heard, what is checked, what is bounded, and how it is said.

import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { connect, createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FakeCrawl, fakeCrawl, fakeInfo, fakeSources } from '../../test/control/fake-crawl.ts'
import { errorSchema, ROUTES } from './api.ts'
import { makeToken } from './auth.ts'
import { createClient, fetchTransport } from './client.ts'
import { LIVE_PATH, PATHS } from './paths.ts'
import { type ControlServer, createServer } from './server.ts'
import { socketTransport } from './socket-transport.ts'

const token = makeToken()
const broken: unknown[] = []
let root: string
let crawl: FakeCrawl
let server: ControlServer
let port: number
let base: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'portolan-control-'))
  mkdirSync(join(root, 'dashboard/assets'), { recursive: true })
  writeFileSync(join(root, 'dashboard/index.html'), '<!doctype html><title>Portolan</title>')
  writeFileSync(join(root, 'dashboard/assets/main-abc.js'), 'export {}')
  writeFileSync(join(root, 'secret.txt'), 'not for you')
  crawl = fakeCrawl('example.org', {
    pause: () => ({ text: 'paused' }),
    pages: () => ({ items: [], next: null, total: 0, readShare: 1 }),
    host: () => {
      throw new TypeError('a mistake that mentions the insides')
    },
  })
  server = await createServer(fakeSources(crawl, fakeCrawl('other')), {
    auth: { token },
    hasDashboard: true,
    dashboardDir: join(root, 'dashboard'),
    onBroken: (cause) => broken.push(cause),
  })
  ;({ port } = await server.listen('127.0.0.1', 0))
  base = `http://127.0.0.1:${port}`
})

afterAll(async () => {
  await server.close()
  rmSync(root, { recursive: true })
})

interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly body: string
}

/** As a browser or a script might: nothing is added that is not said. */
function ask(method: string, path: string, headers: Record<string, string> = {}, body?: string): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ host: '127.0.0.1', port, method, path, headers, agent: false }, (answer) => {
      let text = ''
      answer.setEncoding('utf8')
      answer.on('data', (chunk: string) => (text += chunk))
      answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }))
    })
    asked.on('error', reject)
    asked.end(body)
  })
}

const known = { authorization: `Bearer ${token}` }
const change = { ...known, 'content-type': 'application/json' }

function errorOf({ body }: Reply): { code: string; message: string; fields?: { where: string; what: string }[] } {
  return errorSchema.parse(JSON.parse(body)).error as ReturnType<typeof errorOf>
}

const PAUSE = '/api/crawls/example.org/pause'

describe('who is heard', () => {
  test.for([
    ['no token', {}, 'TOKEN_MISSING', 401],
    ['a wrong token', { authorization: `Bearer ${makeToken()}` }, 'TOKEN_WRONG', 401],
    ['the beginning of the token', { authorization: `Bearer ${token.slice(0, -1)}` }, 'TOKEN_WRONG', 401],
    ['the token with something added', { authorization: `Bearer ${token}a` }, 'TOKEN_WRONG', 401],
    ['the token as a password', { authorization: `Basic ${btoa(`:${token}`)}` }, 'TOKEN_MISSING', 401],
    ['a name that was pointed at us', { ...known, host: 'evil.example:80' }, 'WRONG_HOST', 421],
    ['a name that begins like ours', { ...known, host: 'localhost.evil.example' }, 'WRONG_HOST', 421],
    ['an address that is not the one asked', { ...known, host: '10.1.2.3' }, 'WRONG_HOST', 421],
    ['a Host that is none', { ...known, host: '127.0.0.1@evil.example' }, 'WRONG_HOST', 421],
    ['a page of another server', { ...known, origin: 'https://evil.example' }, 'WRONG_ORIGIN', 403],
    ['a page of nowhere', { ...known, origin: 'null' }, 'WRONG_ORIGIN', 403],
    ['a page of another port', { ...known, origin: 'http://127.0.0.1:1' }, 'WRONG_ORIGIN', 403],
    ['what a page elsewhere embeds', { ...known, 'sec-fetch-site': 'cross-site' }, 'WRONG_ORIGIN', 403],
  ] as const)('%s is refused, and the crawl hears nothing', async ([, headers, code, status]) => {
    const before = crawl.questions.length
    for (const reply of [
      await ask('GET', '/api/crawls', headers),
      await ask('POST', PAUSE, { 'content-type': 'application/json', ...headers }, '{}'),
      await ask('GET', LIVE_PATH.replace(':crawl', 'example.org'), headers),
      await ask('GET', '/metrics', headers),
      await ask('GET', '//api/crawls', headers),
      // The router knows these as the same paths.
      await ask('GET', '/%61pi/crawls', headers),
      await ask('POST', PAUSE.replace('api', '%61%70i'), { 'content-type': 'application/json', ...headers }, '{}'),
      await ask('GET', `http://127.0.0.1:${port}/api/crawls`, headers),
      await ask('POST', `http://x${PAUSE}`, { 'content-type': 'application/json', ...headers }, '{}'),
      await ask('GET', '/metric%73', headers),
    ]) {
      expect([reply.status, errorOf(reply).code]).toEqual([status, code])
      expect(reply.body).not.toContain(token)
    }
    expect(crawl.questions.length).toBe(before)
  })

  test('a token in the query is no token', async () => {
    expect(errorOf(await ask('GET', `/api/crawls?token=${token}`)).code).toBe('TOKEN_MISSING')
  })

  test('localhost and the address itself are ours, through any port', async () => {
    for (const host of ['localhost', 'localhost:9000', `127.0.0.1:${port}`, '127.0.0.1:9000', 'LOCALHOST']) {
      expect((await ask('GET', '/api/crawls', { ...known, host, origin: `http://${host}` })).status).toBe(200)
    }
  })

  test.for(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=x', ''])(
    'a form cannot change anything: %j',
    async (type) => {
      const before = crawl.questions.length
      const reply = await ask('POST', PAUSE, { ...known, ...(type === '' ? {} : { 'content-type': type }) }, '{}')
      expect([reply.status, errorOf(reply).code]).toEqual([415, 'NOT_JSON'])
      expect(crawl.questions.length).toBe(before)
    },
  )

  test('nobody is allowed in from elsewhere', async () => {
    const reply = await ask('OPTIONS', PAUSE, {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
    })
    expect(reply.status).toBe(403)
    for (const one of [reply, await ask('GET', '/api/crawls', known)]) {
      expect(Object.keys(one.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })
})

describe('what is checked', () => {
  test.for([
    ['GET', '/api/crawls/example.org/pages?limit=0', null, 'limit'],
    ['GET', '/api/crawls/example.org/pages?limit=ten', null, 'limit'],
    ['GET', '/api/crawls/example.org/pages?host=a&host=b', null, 'host'],
    ['GET', '/api/crawls/example.org/pages?hots=a', null, 'hots'],
    ['GET', '/api/crawls/example.org/explain', null, 'url'],
    ['PATCH', '/api/crawls/example.org/settings', {}, 'options'],
    ['PATCH', '/api/crawls/example.org/settings', { options: { url: 5 } }, 'options.url'],
    ['POST', '/api/crawls/example.org/seeds', { seeds: ['http://a/', 7] }, 'seeds.1'],
    ['POST', '/api/crawls/example.org/seeds', { seeds: [] }, 'seeds'],
    ['POST', '/api/crawls/example.org/pause', { soon: true }, 'soon'],
    ['PATCH', '/api/crawls/example.org/speed', { connections: 0 }, 'connections'],
    ['POST', '/api/crawls/example.org/nodes/a/explode', {}, 'action'],
  ] as const)('%s %s %j names the field %s', async ([method, path, body, field]) => {
    const reply = await ask(method, path, body === null ? known : change, body === null ? '' : JSON.stringify(body))
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'FIELDS_INVALID'])
    expect(errorOf(reply).fields?.map(({ where }) => where)).toEqual([field])
  })

  test('a list that is too short is told by its length, not by what is in it', async () => {
    const reply = await ask('POST', '/api/crawls/example.org/seeds', change, '{"seeds":[]}')
    expect(errorOf(reply).fields).toEqual([{ where: 'seeds', what: 'has 0; the least is 1' }])
  })

  test.for(['{', 'null', '[]', '"text"', '{"__proto__":{}}', ''])(
    'a body that is no object is refused: %s',
    async (body) => {
      const reply = await ask('PATCH', '/api/crawls/example.org/settings', change, body)
      expect(reply.status).toBe(400)
      expect(errorOf(reply).message).not.toBe('')
    },
  )

  test('what the path says is not overruled by the query', async () => {
    await ask('GET', '/api/crawls/example.org/pages?crawl=other&limit=7', known)
    expect(crawl.questions.at(-1)).toEqual({ name: 'pages', asked: { limit: 7 }, who: 'api' })
  })

  test.for(['nobody', '..', '%2e%2e', '..%2f..%2fetc', '%2Fetc%2Fpasswd', 'example.org%00', '%FF', 'x'.repeat(3_000)])(
    'there is no crawl %s',
    async (id) => {
      const reply = await ask('GET', `/api/crawls/${id}`, known)
      expect([400, 404]).toContain(reply.status)
      expect(errorOf(reply).code).not.toBe('BROKEN')
    },
  )

  test.for([
    ['DELETE', '/api/crawls/example.org', 405, 'GET'],
    ['GET', PAUSE, 405, 'POST'],
    ['POST', '/api/crawls/example.org/pages', 405, 'GET'],
    ['GET', '/api/crawls/example.org/nothing', 404, undefined],
    ['PUT', '/nowhere', 404, undefined],
  ] as const)('%s %s is %i', async ([method, path, status, allow]) => {
    const isGet = method === 'GET'
    const reply = await ask(method, path, isGet ? known : { ...change, 'content-length': '2' }, isGet ? '' : '{}')
    expect([reply.status, reply.headers['allow']]).toEqual([status, allow])
  })

  test('a method in a header or a query is nothing', async () => {
    const reply = await ask('GET', `${PAUSE}?_method=POST`, { ...known, 'x-http-method-override': 'POST' })
    expect(reply.status).toBe(405)
  })

  test('a source that refuses is heard; a mistake of ours says nothing of our insides', async () => {
    const refused = await ask('POST', '/api/crawls/example.org/stop', change, '{}')
    expect([refused.status, errorOf(refused)]).toEqual([
      409,
      { code: 'CONTROL_REFUSED', message: 'stop is not for this crawl' },
    ])
    const mistake = await ask('GET', '/api/crawls/example.org/hosts/a.example', known)
    expect([mistake.status, errorOf(mistake).code]).toEqual([500, 'BROKEN'])
    expect(mistake.body).not.toContain('insides')
    expect(String(broken.at(-1))).toContain('insides')
  })

  test('who asks is what they say, if it can be a name', async () => {
    await createClient(fetchTransport(base, token), { who: 'dashboard' }).call('pause', { crawl: 'example.org' })
    expect(crawl.questions.at(-1)?.who).toBe('dashboard')
    await ask('POST', PAUSE, { ...change, 'x-portolan-who': '<b>' }, '{}')
    expect(crawl.questions.at(-1)?.who).toBe('api')
  })
})

describe('what is bounded', () => {
  test('a body beyond a mebibyte is refused, whatever it says of its length', async () => {
    const large = JSON.stringify({ seeds: ['x'.repeat(1 << 20)] })
    const reply = await ask('POST', '/api/crawls/example.org/seeds', change, large)
    expect([reply.status, errorOf(reply).code]).toEqual([413, 'BODY_TOO_LARGE'])
    const chunked = await ask(
      'POST',
      '/api/crawls/example.org/seeds',
      { ...change, 'transfer-encoding': 'chunked' },
      large,
    )
    expect(chunked.status).toBe(413)
  })

  test('headers are bounded in number and in size', async () => {
    const many = Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`x-${i}`, '1']))
    expect(errorOf(await ask('GET', '/api/crawls', { ...known, ...many })).code).toBe('HEADERS_TOO_LARGE')
    const large = await ask('GET', '/api/crawls', { ...known, 'x-large': 'x'.repeat(20_000) })
    expect([large.status, errorOf(large).code]).toEqual([431, 'HEADERS_TOO_LARGE'])
  })

  test('a head or a body that comes drop by drop is cut', async () => {
    const patience = { headMs: 50, requestMs: 100, lookEveryMs: 20 }
    const hasty = await createServer(fakeSources(), { auth: { token }, hasDashboard: false, patience })
    const { port: other } = await hasty.listen('127.0.0.1', 0)
    const head = `POST /api/crawls HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n`
    for (const sent of [head, `${head}content-type: application/json\r\ncontent-length: 9\r\n\r\n{`]) {
      const socket = connect(other, '127.0.0.1')
      let heard = ''
      socket.on('data', (chunk) => (heard += String(chunk)))
      socket.write(sent)
      await once(socket, 'close')
      expect(heard).toMatch(/^HTTP\/1\.1 4\d\d /)
    }
    await hasty.close()
  })

  test('what is no HTTP is answered in a word and cut', async () => {
    const socket = connect(port, '127.0.0.1')
    let heard = ''
    socket.on('data', (chunk) => (heard += String(chunk)))
    socket.end('\u0016\u0003\u0001 this is TLS, or nothing\r\n\r\n')
    await once(socket, 'close')
    expect(heard).toContain('REQUEST_UNREADABLE')
    expect(heard).not.toContain(token)
  })

  test('a reader of events who does not read is cut, and costs no memory', async () => {
    const socket = connect(port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(
      `GET ${LIVE_PATH.replace(':crawl', 'example.org')} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`,
    )
    await once(socket, 'readable')
    socket.pause()
    const [watcher] = crawl.watchers
    const event = { number: 1, at: '', kind: 'crawl', text: 'x'.repeat(64 << 10) }
    // What the system buffers is some megabytes; what we keep is less than one.
    let sent = 0
    while (crawl.watchers.size > 0 && sent < 10_000) {
      watcher?.onEvent(event)
      sent++
      if (sent % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(crawl.watchers.size).toBe(0)
    expect(sent).toBeLessThan(1_000)
    socket.destroy()
  })
})

describe('the dashboard', () => {
  test('/ is its page, for everybody who may reach us, and says what a browser may do', async () => {
    const reply = await ask('GET', '/')
    expect([reply.status, reply.headers['content-type'], reply.headers['cache-control']]).toEqual([
      200,
      'text/html; charset=utf-8',
      'no-cache',
    ])
    expect(reply.headers['content-security-policy']).toContain("default-src 'self'")
    expect(reply.headers['content-security-policy']).not.toContain('unsafe')
    expect(reply.headers['x-content-type-options']).toBe('nosniff')
    expect(reply.headers['referrer-policy']).toBe('no-referrer')
    expect((await ask('GET', '/assets/main-abc.js')).headers['cache-control']).toContain('immutable')
    expect((await ask('GET', '/', { host: 'evil.example' })).status).toBe(421)
  })

  test.for([
    '/../secret.txt',
    '/%2e%2e/secret.txt',
    '/..%2fsecret.txt',
    '/assets/../../secret.txt',
    '/assets/..%5c..%5csecret.txt',
    '//secret.txt',
    '/secret.txt%00.html',
    '/assets',
    '/assets/',
    '/__proto__',
  ])('no path leads out of it: %s', async (path) => {
    const reply = await ask('GET', path)
    expect([400, 404]).toContain(reply.status)
    expect(reply.body).not.toContain('not for you')
  })

  test('where it is not built, the command that builds it is said', async () => {
    const bare = await createServer(fakeSources(), { auth: { token }, hasDashboard: true, dashboardDir: null })
    const { port: other } = await bare.listen('127.0.0.1', 0)
    try {
      const reply = await fetch(`http://127.0.0.1:${other}/`)
      expect([reply.status, await reply.text()]).toEqual([
        503,
        expect.stringContaining('node tools/build-dashboard.js'),
      ])
    } finally {
      await bare.close()
    }
  })
})

describe('the client', () => {
  const client = () => createClient(fetchTransport(base, token))

  test('lists, asks, and hears refusals with their code and fields', async () => {
    const { crawls } = await client().call('crawls', {})
    expect(ROUTES.crawls.answer.parse({ crawls }).crawls.map(({ id }) => id)).toEqual(['example.org', 'other'])
    expect(await client().call('pages', { crawl: 'example.org', limit: 5 })).toMatchObject({ items: [] })
    await expect(client().call('crawl', { crawl: 'a/b?c#d' })).rejects.toMatchObject({
      status: 404,
      code: 'CONTROL_UNKNOWN',
    })
    await expect(client().call('addSeeds', { crawl: 'other' }, { seeds: [] })).rejects.toMatchObject({
      fields: [{ where: 'seeds' }],
    })
    await expect(createClient(fetchTransport('http://127.0.0.1:1', null)).call('crawls', {})).rejects.toMatchObject({
      status: 0,
      code: 'UNREACHABLE',
    })
  })

  test('hears what changes, until it has heard enough', async () => {
    const enough = new AbortController()
    const heard: string[] = []
    const over = client().live(
      'example.org',
      {
        onInfo: ({ state }) => {
          heard.push(state)
          const [watcher] = crawl.watchers
          if (heard.length === 1) setImmediate(() => watcher?.onInfo(fakeInfo('example.org', { state: 'paused' })))
          else watcher?.onEvent({ number: 7, at: '', kind: 'crawl', text: 'line\nbreak · ünïcode' })
        },
        onEvent: ({ text }) => {
          heard.push(text)
          enough.abort()
        },
      },
      enough.signal,
    )
    await over.catch(() => undefined)
    expect(heard).toEqual(['running', 'paused', 'line\nbreak · ünïcode'])
  })

  test('metrics of several crawls say once what each is', async () => {
    const text = await client().text('/metrics')
    expect(text.match(/# TYPE portolan_pages counter/g)).toHaveLength(1)
    expect(text).toContain('portolan_pages{crawl="example.org"} 10\nportolan_pages{crawl="other"} 10\n')
  })

  test('the OpenAPI document has every route', async () => {
    const document = JSON.parse(await client().text('/api/openapi.json')) as { paths: Record<string, object> }
    for (const { method, path } of Object.values(PATHS)) {
      expect(document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]).toHaveProperty(method.toLowerCase())
    }
  })
})

test('connections that another accepted are served without a token, and ended when it closes', async () => {
  const path = join(root, 'control.sock')
  const inner = await createServer(fakeSources(crawl), { auth: 'none', hasDashboard: false })
  // Handed over late, as by a process that loads the server on the first connection.
  const listener = createNetServer((socket) => void setTimeout(() => inner.take(socket), 20))
  listener.listen(path)
  await once(listener, 'listening')
  const client = createClient(socketTransport(path), { who: 'top' })
  expect((await client.call('crawls', {})).crawls.map(({ id }) => id)).toEqual(['example.org'])
  await client.call('pause', { crawl: 'example.org' })
  expect(crawl.questions.at(-1)).toMatchObject({ name: 'pause', who: 'top' })
  const before = crawl.watchers.size
  let infos = 0
  const live = client.live('example.org', {
    onInfo: () => {
      infos++
      void inner.close()
    },
  })
  await live
  expect([infos, crawl.watchers.size]).toEqual([1, before])
  await expect(createClient(socketTransport(join(root, 'none.sock'))).call('crawls', {})).rejects.toMatchObject({
    code: 'UNREACHABLE',
  })
  listener.close()
})

test('a port that is taken is said in a sentence', async () => {
  const second = await createServer(fakeSources(), { auth: { token }, hasDashboard: false })
  await expect(second.listen('127.0.0.1', port)).rejects.toThrow(`port ${port} is taken`)
  await second.close()
})

test('readers who leave before they are told anything leave no place taken', async () => {
  let tell: (info: ReturnType<typeof fakeInfo>) => void = () => {}
  const told = new Promise<ReturnType<typeof fakeInfo>>((resolve) => (tell = resolve))
  const slow = fakeCrawl('slow', { crawl: () => told as unknown as ReturnType<typeof fakeInfo> })
  const own = await createServer(fakeSources(slow), { auth: 'none', hasDashboard: false })
  const closed: Promise<unknown>[] = []
  const listener = createNetServer((socket) => {
    closed.push(new Promise((resolve) => socket.on('close', resolve)))
    own.take(socket)
  })
  const path = join(root, 'slow.sock')
  await new Promise<void>((ready) => listener.listen(path, () => ready()))
  const leavers = Array.from({ length: 64 }, () => connect(path))
  for (const one of leavers) one.write(`GET ${LIVE_PATH.replace(':crawl', 'slow')} HTTP/1.1\r\nhost: localhost\r\n\r\n`)
  await expect.poll(() => slow.questions.length).toBe(64)
  for (const one of leavers) one.destroy()
  await Promise.all(closed)
  tell(fakeInfo('slow'))
  const heard = await new Promise<string>((resolve) => {
    const enough = new AbortController()
    const live = createClient(socketTransport(path), { who: 'test' }).live(
      'slow',
      {
        onInfo: ({ id }) => {
          resolve(id)
          enough.abort()
        },
        onEvent: () => {},
      },
      enough.signal,
    )
    live.catch((fault: unknown) => resolve(String(fault)))
  })
  expect(heard).toBe('slow')
  await own.close()
  listener.close()
})
