// The resolver against a small name server of our own on the loopback: what is asked how often, what
// is remembered how long, and what each kind of failure is called.

import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import type { HostKey } from '../url/index.ts'
import { CachingResolver } from './caching-resolver.ts'
import { dnsOptions } from './options.ts'

interface Answer {
  /** 0 no error, 2 server failure, 3 no such name, 5 refused. */
  readonly code?: number
  readonly addresses?: readonly string[]
  readonly ttl?: number
}
/** Null: the question is not answered. */
type Zone = (name: string, kind: 'A' | 'AAAA') => Answer | null | Promise<Answer | null>

class NameServer {
  readonly questions: string[] = []
  zone: Zone = () => ({ code: 3 })
  readonly #socket: Socket = createSocket('udp4')

  async open(): Promise<void> {
    this.#socket.on('message', (message, peer) => void this.#answer(message, peer.port))
    this.#socket.bind(0, '127.0.0.1')
    await once(this.#socket, 'listening')
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`
  }

  close(): void {
    this.#socket.close()
  }

  async #answer(message: Buffer, port: number): Promise<void> {
    const labels: string[] = []
    let at = 12
    for (let length = message[at++]!; length !== 0; length = message[at++]!) {
      labels.push(message.toString('latin1', at, at + length))
      at += length
    }
    const kind = message.readUInt16BE(at) === 28 ? 'AAAA' : 'A'
    const question = message.subarray(12, at + 4)
    const name = labels.join('.').toLowerCase()
    this.questions.push(`${kind} ${name}`)
    const answer = await this.zone(name, kind)
    if (answer === null) return
    const records = (answer.addresses ?? []).map((ip) => {
      const data = kind === 'A' ? Buffer.from(ip.split('.').map(Number)) : Buffer.from(ip.replaceAll(':', ''), 'hex')
      const head = Buffer.from([0xc0, 12, 0, kind === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length])
      head.writeInt32BE((answer.ttl ?? 300) | 0, 6)
      return Buffer.concat([head, data])
    })
    const head = Buffer.from([message[0]!, message[1]!, 0x81, 0x80 | (answer.code ?? 0), 0, 1, 0, 0, 0, 0, 0, 0])
    head.writeUInt16BE(records.length, 6)
    this.#socket.send(Buffer.concat([head, question, ...records]), port, '127.0.0.1')
  }
}

let server: NameServer
let clock: ManualClock
let resolvers: CachingResolver[]
beforeEach(async () => {
  server = new NameServer()
  await server.open()
  clock = new ManualClock()
  resolvers = []
})
afterEach(() => {
  for (const resolver of resolvers) resolver.close()
  server.close()
})

function resolverWith(options: object = {}, hosts?: string): CachingResolver {
  const servers = hosts === undefined ? [server.address] : []
  const resolver = new CachingResolver(dnsOptions.parse({ servers, ...options }), clock, hosts)
  resolvers.push(resolver)
  return resolver
}
const host = (name: string): HostKey => name as HostKey
const onlyV4 =
  (ip: string, ttl = 300): Zone =>
  (_, kind) =>
    kind === 'A' ? { addresses: [ip], ttl } : {}

async function familiesOf(options: object): Promise<number[]> {
  const answer = await resolverWith(options).resolve(host('a.test'))
  return answer.kind === 'resolved' ? answer.addresses.map((address) => address.family) : []
}

/** How many questions reach the server when a host is asked for. */
async function ask(resolver: CachingResolver, name = 'a.test'): Promise<number> {
  const before = server.questions.length
  await resolver.resolve(host(name))
  return server.questions.length - before
}

async function codeOf(zone: Zone, name = 'a.test'): Promise<string> {
  server.zone = zone
  const answer = await resolverWith({ timeout: '30ms', tries: 1 }).resolve(host(name))
  return answer.kind === 'failed' ? answer.code : answer.kind
}

/** Takes a step in each turn of the event loop until the promise is settled. */
async function stepUntil(promise: Promise<unknown>, step: () => void): Promise<void> {
  const state = { isDone: false }
  void promise.then(() => (state.isDone = true))
  while (!state.isDone) {
    await new Promise((resolve) => setImmediate(resolve))
    step()
  }
}

describe('asking', () => {
  test('a thousand askers of one host make one query of each kind', async () => {
    server.zone = onlyV4('192.0.2.1')
    const resolver = resolverWith()
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => resolver.resolve(host('a.test'))))
    for (const answer of answers) {
      expect(answer).toEqual({ kind: 'resolved', addresses: [{ ip: '192.0.2.1', family: 4 }] })
    }
    expect(server.questions.toSorted()).toEqual(['A a.test', 'AAAA a.test'])
  })

  test('never more hosts are asked for at once than the bound, and all get their answer', async () => {
    let open = 0
    let most = 0
    const held: (() => void)[] = []
    server.zone = async (_, kind) => {
      if (kind === 'AAAA') return {}
      most = Math.max(most, ++open)
      await new Promise<void>((resolve) => held.push(resolve))
      open--
      return { addresses: ['192.0.2.1'] }
    }
    const resolver = resolverWith({ queriesMax: 3 })
    const all = Promise.all(Array.from({ length: 10 }, (_, i) => resolver.resolve(host(`h${i}.test`))))
    await stepUntil(all, () => held.shift()?.())
    expect((await all).every((answer) => answer.kind === 'resolved')).toBe(true)
    expect(most).toBeLessThanOrEqual(3)
  })

  test('both kinds of addresses come back, the preferred first', async () => {
    server.zone = (_, kind) => ({
      addresses: kind === 'A' ? ['192.0.2.1', '192.0.2.2'] : ['2001:0db8:0000:0000:0000:0000:0000:0001'],
    })
    expect(await familiesOf({ prefer: '4' })).toEqual([4, 4, 6])
    expect(await familiesOf({ prefer: '6' })).toEqual([6, 4, 4])
    expect(await familiesOf({ prefer: '6', ask: 'preferred' })).toEqual([6])
    expect(server.questions).toHaveLength(5)
  })

  test('a server that never answers for the other kind does not hold up the answer in hand', async () => {
    server.zone = (_, kind) => (kind === 'A' ? { addresses: ['192.0.2.1'] } : null)
    const answer = resolverWith().resolve(host('a.test'))
    // The wait is on the clock in hand; the answer itself takes as long as the loopback does.
    await stepUntil(answer, () => clock.advance(250))
    expect(await answer).toEqual({ kind: 'resolved', addresses: [{ ip: '192.0.2.1', family: 4 }] })
  })

  test('a server with a thousand addresses is cut short', async () => {
    server.zone = (_, kind) => (kind === 'A' ? { addresses: Array.from({ length: 80 }, (_, i) => `192.0.2.${i}`) } : {})
    const answer = await resolverWith({ addressesMax: 5 }).resolve(host('a.test'))
    expect(answer.kind === 'resolved' && answer.addresses).toHaveLength(5)
  })
})

describe('remembering', () => {
  test('an answer is believed for its time to live, and not a millisecond longer', async () => {
    server.zone = onlyV4('192.0.2.1', 300)
    const resolver = resolverWith({ ttlMin: '0ms' })
    expect(await ask(resolver)).toBe(2)
    clock.advance(299_999)
    expect(await ask(resolver)).toBe(0)
    clock.advance(1)
    expect(await ask(resolver)).toBe(2)
  })

  test('a time to live is kept between the bounds, whatever the server says', async () => {
    const resolver = resolverWith({ ttlMin: '1m', ttlMax: '1h' })
    for (const [ttl, believedMs] of [
      [0, 60_000],
      [0x7fffffff, 3_600_000],
    ] as const) {
      server.zone = onlyV4('192.0.2.1', ttl)
      expect(await ask(resolver, `ttl${ttl}.test`)).toBe(2)
      clock.advance(believedMs - 1)
      expect(await ask(resolver, `ttl${ttl}.test`)).toBe(0)
      clock.advance(1)
      expect(await ask(resolver, `ttl${ttl}.test`)).toBe(2)
    }
  })

  test('names that do not exist are remembered, errors only for a moment', async () => {
    const resolver = resolverWith({ noNameTtl: '15m', failureTtl: '5s', tries: 1 })
    for (const [code, believedMs] of [
      [3, 900_000],
      [0, 900_000],
      [2, 5_000],
    ] as const) {
      server.zone = () => ({ code })
      expect(await ask(resolver, `code${code}.test`)).toBeGreaterThan(0)
      clock.advance(believedMs - 1)
      expect(await ask(resolver, `code${code}.test`)).toBe(0)
      clock.advance(1)
      expect(await ask(resolver, `code${code}.test`)).toBeGreaterThan(0)
    }
  })

  test('the cache is bounded and forgets the longest unused', async () => {
    server.zone = onlyV4('192.0.2.1')
    const resolver = resolverWith({ cacheMax: 3 })
    for (const name of ['a.test', 'b.test', 'c.test']) await ask(resolver, name)
    expect(await ask(resolver, 'a.test')).toBe(0)
    await ask(resolver, 'd.test')
    expect(resolver.figures.cached).toBe(3)
    expect(await ask(resolver, 'a.test')).toBe(0)
    expect(await ask(resolver, 'b.test')).toBe(2)
  })
})

describe('failing', () => {
  test('each failure has its name', async () => {
    expect(await codeOf(() => ({ code: 3 }))).toBe('DNS_NO_NAME')
    expect(await codeOf(() => ({}))).toBe('DNS_NO_ADDRESS')
    expect(await codeOf(() => ({ code: 2 }))).toBe('DNS_SERVER_FAILED')
    expect(await codeOf(() => ({ code: 5 }))).toBe('DNS_SERVER_FAILED')
    expect(await codeOf(() => null)).toBe('DNS_TIMEOUT')
    expect(await codeOf(() => ({ code: 3 }), `${'a'.repeat(64)}.test`)).toBe('DNS_NO_NAME')
    expect(await codeOf(() => ({ code: 3 }), 'a..test')).toBe('DNS_NO_NAME')
  })

  test('no address of one kind and a passing failure of the other is a passing failure', async () => {
    expect(await codeOf((_, kind) => (kind === 'A' ? {} : { code: 2 }))).toBe('DNS_SERVER_FAILED')
    expect(await codeOf((_, kind) => (kind === 'AAAA' ? {} : null))).toBe('DNS_TIMEOUT')
  })

  test('addresses of one kind are enough, whatever becomes of the other', async () => {
    expect(await codeOf((_, kind) => (kind === 'A' ? { addresses: ['192.0.2.1'] } : { code: 2 }))).toBe('resolved')
    expect(
      await codeOf((_, kind) => (kind === 'AAAA' ? { addresses: ['20010db8000000000000000000000001'] } : { code: 2 })),
    ).toBe('resolved')
  })

  test('a resolver that is closed answers all who wait, and those who come later', async () => {
    server.zone = () => null
    const resolver = resolverWith({ queriesMax: 1 })
    const asked = ['a.test', 'b.test', 'c.test'].map((name) => resolver.resolve(host(name)))
    resolver.close()
    for (const answer of await Promise.all(asked)) expect(answer.kind).toBe('failed')
    expect((await resolver.resolve(host('d.test'))).kind).toBe('failed')
  })
})

describe('not asking', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7', 4],
    ['[2001:db8::7]', '2001:db8::7', 6],
    ['2001:db8::7', '2001:db8::7', 6],
  ] as const)('the literal %s is its own address', async (literal, ip, family) => {
    expect(await resolverWith().resolve(host(literal))).toEqual({ kind: 'resolved', addresses: [{ ip, family }] })
    expect(server.questions).toEqual([])
  })

  test('localhost is the loopback and .onion is nowhere, without a question', async () => {
    const resolver = resolverWith()
    for (const name of ['localhost', 'localhost.', 'a.localhost']) {
      const answer = await resolver.resolve(host(name))
      expect(answer.kind === 'resolved' && answer.addresses.map((address) => address.ip)).toEqual(['127.0.0.1', '::1'])
    }
    expect(await resolver.resolve(host('secret.onion'))).toMatchObject({ code: 'DNS_NO_NAME' })
    expect(server.questions).toEqual([])
  })

  test('the hosts file is honoured when no servers are configured, and not when they are', async () => {
    const text =
      '# comment\n192.0.2.9  intranet wiki.test # ours\n\nnonsense line\n2001:db8::9 wiki.test\nfe80::1%lo0 zoned'
    const answer = await resolverWith({}, text).resolve(host('wiki.test'))
    expect(answer.kind === 'resolved' && answer.addresses.map((address) => address.ip)).toEqual([
      '192.0.2.9',
      '2001:db8::9',
    ])
    server.zone = () => ({ code: 3 })
    expect((await resolverWith().resolve(host('wiki.test'))).kind).toBe('failed')
  })
})

describe('options', () => {
  test.each([
    ['9.9.9.9', '9.9.9.9:53'],
    ['127.0.0.1:5353', '127.0.0.1:5353'],
    ['::1', '[::1]:53'],
    ['[::1]:5353', '[::1]:5353'],
  ])('%s is a name server', (text, parsed) => {
    expect(dnsOptions.parse({ servers: [text] }).servers).toEqual([parsed])
  })

  test.each(['', 'dns.test', '1.2.3', '1.2.3.4:0', '1.2.3.4:70000', '1.2.3.4:x', '[1.2.3', '1.2.3.4:53:53'])(
    '%j is none',
    (text) => {
      expect(dnsOptions.safeParse({ servers: [text] }).success).toBe(false)
    },
  )
})
