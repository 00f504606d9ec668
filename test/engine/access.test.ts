// Who is let in, and what is said to whoever is not; servers that cannot do what is needed.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { nkeys } from '@nats-io/transport-node'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { checkEngine, connectEngine, type EngineSettings, readNatsAccess } from '../../src/engine/index.ts'
import { engineOptions } from '../../src/engine/options.ts'
import { openAuthority } from '../test-authority.ts'
import { natsAddress, type NatsServers, type NatsSettings, startNats } from '../nats-servers.ts'

const authority = openAuthority()

/** Each kind of server once: they start in a tenth of a second, but there are many. */
const running = new Map<string, Promise<NatsServers>>()
let crawls = 0
afterAll(async () => {
  for (const starting of running.values()) await (await starting)[Symbol.asyncDispose]()
})

async function serverLike(settings: NatsSettings): Promise<NatsServers> {
  const key = JSON.stringify(settings)
  const starting = running.get(key) ?? startNats(settings)
  running.set(key, starting)
  return starting
}

/** Has a server started, connects with these options, and does one thing. */
async function visit(
  server: NatsSettings,
  options: (urls: readonly string[]) => Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string>> = {},
  more: Partial<EngineSettings> = {},
): Promise<string> {
  const nats = await serverLike(server)
  const { servers, credentials } = readNatsAccess(engineOptions.parse({ nats: nats.urls, ...options(nats.urls) }), env)
  try {
    const engine = await connectEngine({
      servers,
      credentials,
      crawl: `c${++crawls}`,
      connectMs: 100,
      operationMs: 3_000,
      ...more,
    })
    const answer = await engine.records.create('a', Buffer.from('x'))
    await engine.close()
    return answer
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`
  }
}

const USERS = `authorization { users = [ { user: crawler, password: "s3cret/@" } ] }`
const file = (name: string, text: string): string => {
  const path = join(authority.directory, name)
  writeFileSync(path, text)
  return path
}

describe('let in', () => {
  test('a user whose password is in the environment', async () => {
    expect(await visit({ config: USERS }, () => ({ natsUser: 'crawler' }), { NATS_PASSWORD: 's3cret/@' })).toBe(
      'created',
    )
  })

  test('a user whose password is in a file', async () => {
    const natsPasswordFile = file('password', 's3cret/@\n')
    expect(await visit({ config: USERS }, () => ({ natsUser: 'crawler', natsPasswordFile }))).toBe('created')
  })

  test('a login in the address of a server', async () => {
    const withLogin = (urls: readonly string[]): { nats: string[] } => ({
      nats: urls.map((url) => url.replace('//', '//crawler:s3cret%2F%40@')),
    })
    expect(await visit({ config: USERS }, withLogin)).toBe('created')
  })

  test('a token from the environment', async () => {
    expect(await visit({ config: 'authorization { token: "t0ken" }' }, () => ({}), { NATS_TOKEN: 't0ken' })).toBe(
      'created',
    )
  })

  test('an nkey', async () => {
    const user = nkeys.createUser()
    const natsNkey = file('user.nk', `${Buffer.from(user.getSeed()).toString()}\n`)
    const config = `authorization { users = [ { nkey: ${user.getPublicKey()} } ] }`
    expect(await visit({ config }, () => ({ natsNkey }))).toBe('created')
  })

  test('a certificate of ours, over TLS to a server of an authority of ours', async () => {
    const { cert, key } = certified()
    const natsCert = file('client.pem', cert)
    const natsKey = file('client.key', key)
    const tls = { cert, key, ca: authority.certificates.authority }
    const asClient = { natsCa: authority.caFile, natsCert, natsKey }
    expect(await visit({ tls }, () => asClient)).toBe('created')
    expect(await visit({ tls }, () => ({ natsCa: authority.caFile }))).toMatch(/^ENGINE_/)
  })
})

test('a user that may use the subjects of one crawl, and ask JetStream, can do everything in it and nothing in another', async () => {
  const config = `authorization { users = [ { user: a, password: b, permissions: {
    publish: ["portolan.mine.>", "$SRV.>", "$JS.API.>", "_INBOX.>"]
    subscribe: ["portolan.mine.>", "$SRV.>", "_INBOX.>"]
  } } ] }`
  const nats = await serverLike({ config })
  const settings = { servers: nats.urls, credentials: { user: 'a', password: 'b' }, operationMs: 3_000 }
  const mine = await connectEngine({ ...settings, crawl: 'mine', node: 'n1' })
  const word = Buffer.from('word')
  const beats: string[] = []
  const heard: string[] = []
  await mine.watchBeats((name) => beats.push(name))
  await mine.records.watch('a', ({ name }) => heard.push(name))
  mine.subscribe('wire', (bytes) => heard.push(Buffer.from(bytes).toString()))
  mine.publish('wire', word)
  expect(await mine.records.create('a', word)).toBe('created')
  expect(await (await mine.log('share.0')).append(word, 0)).toEqual({ kind: 'appended', at: 1 })
  await mine.beat('n1', word, 3_000)
  await mine.objects.put('o', word)
  expect(await mine.objects.list('')).toEqual(['o'])
  await mine.serve({ kind: 'node', name: 'n1', version: '1.0.0' }, async (question) => question)
  expect(Buffer.from(await mine.call('node', 'n1', word, 3_000)).toString()).toBe('word')
  expect(await mine.discover('node', 100)).toHaveLength(1)
  await vi.waitFor(() => expect([beats, heard.toSorted()]).toEqual([['n1'], ['a', 'word']]), { timeout: 120_000 })
  await mine.close()
  const other = await connectEngine({ ...settings, crawl: 'other' })
  await expect(other.records.create('a', word)).rejects.toMatchObject({ code: 'ENGINE_UNFIT' })
  await other.close()
})

describe('not let in', () => {
  test('without the password, with a wrong one, and never told it', async () => {
    const wrong = await visit({ config: USERS }, () => ({ natsUser: 'crawler' }), { NATS_PASSWORD: 'wr0ng' })
    expect(wrong).toMatch(/^ENGINE_UNFIT: nats:.* does not let us in .*check the user/)
    expect(wrong).not.toContain('wr0ng')
    expect(await visit({ config: USERS }, () => ({}))).toMatch(/^ENGINE_UNFIT: .*does not let us in/)
  })

  test('over TLS by an authority nobody knows', async () => {
    const { cert, key } = certified()
    expect(await visit({ tls: { cert, key } }, () => ({}))).toMatch(
      /^ENGINE_UNFIT: .*no encrypted connection .*certificate/,
    )
  })

  test('to a server without encryption where it was asked for', async () => {
    expect(await visit({}, (urls) => ({ nats: urls.map((url) => url.replace('nats:', 'tls:')) }))).toMatch(
      /^ENGINE_UNFIT: .*no encrypted connection/,
    )
  })

  test('where what is needed is not allowed', async () => {
    const config = `authorization { users = [ { user: a, password: b, permissions: { publish: ["$JS.API.>"], subscribe: ["_INBOX.>"] } } ] }`
    expect(await visit({ config }, () => ({ natsUser: 'a' }), { NATS_PASSWORD: 'b' })).toMatch(
      /^ENGINE_UNFIT: record a: the engine does not allow this user to publish (?:to )?portolan\.c\d+\.record\.a/,
    )
  })
})

describe('not fit', () => {
  test('a server that is not there', async () => {
    await expect(connectEngine({ servers: ['nats://127.0.0.1:1'], crawl: 'c', connectMs: 100 })).rejects.toMatchObject({
      code: 'ENGINE_UNREACHABLE',
      message: expect.stringMatching(/^nats:\/\/127\.0\.0\.1:1: no connection/) as string,
    })
  })

  test.each([
    ['without JetStream', { hasJetStream: false }, {}, /^ENGINE_UNFIT: .*without JetStream; start it with -js/],
    ['whose messages are small', { config: 'max_payload: 64KB' }, {}, /^ENGINE_UNFIT: .*65536 bytes.*max_payload/],
    [
      'whose account has no JetStream',
      { config: 'accounts { A { users: [ { user: a, password: b } ] }, S { jetstream: enabled } }' },
      {},
      /^ENGINE_UNFIT: JetStream is not enabled for the NATS account/,
    ],
    [
      'whose account has no room',
      { config: 'accounts { A { jetstream { max_streams: 2 }, users: [ { user: a, password: b } ] } }' },
      {},
      /^ENGINE_FULL: .*maximum number of streams/,
    ],
    [
      'alone, where three are to keep everything',
      {},
      { replicas: '3' as const },
      /^ENGINE_UNFIT: .*replicas > 1 not supported/,
    ],
  ])('a server %s', async (_title, server, settings, complaint) => {
    const isAccount = 'config' in server && server.config.startsWith('accounts')
    expect(await visit(server, () => (isAccount ? { natsUser: 'a' } : {}), { NATS_PASSWORD: 'b' }, settings)).toMatch(
      complaint,
    )
  })

  test('a closer look says what the server is, finds no race, and leaves nothing behind', async () => {
    const nats = await serverLike({})
    const settings = { servers: nats.urls, crawl: 'look' }
    const report = await checkEngine(settings, 16)
    expect(report).toMatchObject({ cluster: null, isEncrypted: false, replicas: 1, streamsMax: null, races: 40 })
    expect(report.version).toMatch(/^2\./)
    expect((await checkEngine(settings, 16)).streams).toBe(report.streams)
  })

  test('a closer look counts the streams a crawl will need', async () => {
    const config = 'accounts { A { jetstream { max_streams: 8 }, users: [ { user: a, password: b } ] } }'
    const nats = await serverLike({ config })
    const settings = { servers: nats.urls, crawl: 'look', credentials: { user: 'a', password: 'b' } }
    await expect(checkEngine(settings, 6)).rejects.toMatchObject({ code: 'ENGINE_FULL' })
    expect(await checkEngine(settings, 5)).toMatchObject({ streamsMax: 8 })
    const engine = await connectEngine(settings)
    await engine.log('share.0')
    await engine.close()
    expect(await checkEngine(settings, 5)).toMatchObject({ streams: 4 })
  })

  test('the name of a crawl that cannot be a subject', async () => {
    await expect(connectEngine({ servers: ['nats://127.0.0.1:1'], crawl: 'my crawl' })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    })
  })
})

/** A certificate for where the servers listen; good for a client as well. */
function certified(): { cert: string; key: string } {
  return { cert: authority.certificates.certificateFor(natsAddress()), key: authority.certificates.key }
}
