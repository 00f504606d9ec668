import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { Random, systemClock } from '../base/index.ts'
import { ACCESS_KEY, S3Server, type S3ServerOptions, SECRET_KEY } from '../../test/s3-server.ts'
import { openAuthority } from '../../test/test-authority.ts'
import { openShelf } from './open-shelf.ts'
import { type ShelfOptions, shelfOptions } from './options.ts'
import { S3Client } from './s3-client.ts'
import { S3Shelf } from './s3-shelf.ts'
import type { Putting, Shelf } from './shelf.ts'

const folder = mkdtempSync(join(tmpdir(), 'portolan-s3-'))
afterAll(() => rmSync(folder, { recursive: true }))
const AUTHORITY = openAuthority()
const ENVIRONMENT = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY }

let files = 0
function fileOf(bytes: number, seed = 'x'): { path: string; body: Buffer } {
  // Of a length that divides no part: no two parts are the same.
  const body = Buffer.alloc(bytes, `${seed}-portolan-of-13`.slice(0, 13))
  const path = join(folder, String(files++))
  writeFileSync(path, body)
  return { path, body }
}

function putting(): Putting & { readonly moved: () => number; readonly abort: AbortController } {
  const abort = new AbortController()
  let moved = 0
  return { signal: abort.signal, abort, onBytes: (bytes) => (moved += bytes), moved: () => moved }
}

async function stand(
  server: S3ServerOptions = {},
  shelf: { partBytes?: number; silenceMs?: number; region?: string } = {},
): Promise<{ server: S3Server; shelf: Shelf }> {
  const s3 = await S3Server.start(server)
  onTestFinished(() => s3[Symbol.asyncDispose]())
  const { partBytes = 1_000, silenceMs = 2_000, region = 'us-east-1' } = shelf
  const client = new S3Client({
    place: { endpoint: new URL(s3.endpoint), bucket: s3.bucket, region, isPathStyle: true },
    credentials: async () => ({ accessKey: ACCESS_KEY, secretKey: SECRET_KEY, sessionToken: null }),
    // Waiting between tries takes no time here.
    clock: { ...systemClock, callAt: (_, callback) => systemClock.callAt(systemClock.nowMs(), callback) },
    random: new Random(1),
    ca: null,
    connections: 2,
    silenceMs,
  })
  onTestFinished(() => client.close())
  return { server: s3, shelf: new S3Shelf({ client, bucket: s3.bucket, prefix: 'a b/ü+&/', partBytes }) }
}

const KEY = 'a b/ü+&/archive/x.warc.gz'
const NAME = 'archive/x.warc.gz'

test.each([0, 1, 999, 1_000])('a short file of %i bytes goes in one request, and is looked at', async (bytes) => {
  const { server, shelf } = await stand()
  const { path, body } = fileOf(bytes)
  const sha256 = createHash('sha256').update(body).digest('hex')
  expect(await shelf.put(NAME, path, putting())).toEqual({ bytes, sha256 })
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
  expect(server.log).toEqual(['head', 'put', 'head'])
  expect(server.badSignatures).toEqual([])
})

test('whether an object is there is asked by name', async () => {
  const { server, shelf } = await stand()
  const { signal } = putting()
  expect(await shelf.has(NAME, signal)).toBe(false)
  await shelf.put(NAME, fileOf(10).path, putting())
  expect([await shelf.has(NAME, signal), await shelf.has('archive/y.warc.gz', signal)]).toEqual([true, false])
  expect(server.badSignatures).toEqual([])
})

test.each([1_001, 5_000, 12_345])('a longer file of %i bytes goes in parts', async (bytes) => {
  const { server, shelf } = await stand({ partBytesMin: 1_000 })
  const { path, body } = fileOf(bytes)
  await shelf.put(NAME, path, putting())
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
  expect(server.count('part')).toBe(Math.ceil(bytes / 1_000))
  expect(server.uploads.size).toBe(0)
})

test('what is there already is not put again', async () => {
  const { server, shelf } = await stand()
  const { path } = fileOf(2_500)
  await shelf.put(NAME, path, putting())
  const before = server.count('part')
  await shelf.put(NAME, path, putting())
  expect(server.count('part')).toBe(before)
})

test('another content under the name is written over', async () => {
  const { server, shelf } = await stand()
  await shelf.put(NAME, fileOf(500, 'old').path, putting())
  const { path, body } = fileOf(500, 'new')
  await shelf.put(NAME, path, putting())
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
})

test.each(['error-500', 'slow-down', 'reset', 'reset-after', 'redirect'] as const)(
  'every kind of request survives %s',
  async (misdeed) => {
    const { server, shelf } = await stand({ misdeed: (_, count) => (count === 0 ? misdeed : null) })
    const { path, body } = fileOf(3_300)
    await shelf.put(NAME, path, putting())
    expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
    expect(server.badSignatures).toEqual([])
    // A second one that is begun because nobody answered to the first is no remains for ever.
    await shelf.put('archive/y.warc.gz', fileOf(600).path, putting())
  },
)

test('an error that stands in a 200 is none', async () => {
  const { server, shelf } = await stand({
    misdeed: (operation, count) => (operation === 'complete' && count === 0 ? 'error-in-200' : null),
  })
  const { path, body } = fileOf(3_000)
  await shelf.put(NAME, path, putting())
  expect(server.count('complete')).toBe(2)
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
})

test('an object with another ETag than it was taken with is not taken for ours', async () => {
  const { server, shelf } = await stand({ misdeed: (operation) => (operation === 'put' ? 'wrong-etag' : null) })
  const { path } = fileOf(100)
  await expect(shelf.put(NAME, path, putting())).rejects.toMatchObject({ code: 'SHELF_DIFFERS' })
  server.misdeed = (operation) => (operation === 'complete' ? 'wrong-etag' : null)
  await expect(shelf.put(NAME, fileOf(2_000).path, putting())).rejects.toMatchObject({ code: 'SHELF_DIFFERS' })
})

test('a connection on which nothing moves is given up, and the part sent again', async () => {
  const { server, shelf } = await stand(
    { misdeed: (operation, count) => (operation === 'part' && count === 1 ? 'silence' : null) },
    { partBytes: 200_000, silenceMs: 150 },
  )
  const { path, body } = fileOf(500_000)
  await shelf.put(NAME, path, putting())
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
  expect(server.count('part')).toBe(4)
})

test('trouble that stays is a Fault after a few tries, and nothing half is there', async () => {
  const { server, shelf } = await stand({ misdeed: (operation) => (operation === 'part' ? 'error-500' : null) })
  await expect(shelf.put(NAME, fileOf(3_000).path, putting())).rejects.toMatchObject({ code: 'SHELF_UNREACHABLE' })
  expect(server.count('part')).toBe(4)
  expect(server.objects.size).toBe(0)
})

test('a refusal is told at once, with what the store says', async () => {
  const { server, shelf } = await stand({ misdeed: (operation) => (operation === 'put' ? 'denied' : null) })
  const put = shelf.put(NAME, fileOf(10).path, putting())
  await expect(put).rejects.toMatchObject({ code: 'SHELF_REFUSED', message: expect.stringContaining('AccessDenied') })
  expect(server.count('put')).toBe(1)
})

test.each([true, false])('an upload that was cut off is gone on with (store knows checksums: %s)', async (knows) => {
  const { server, shelf } = await stand({ knowsChecksums: knows, listedMax: 2 })
  const { path, body } = fileOf(7_500)
  const first = putting()
  server.misdeed = (operation, count) => {
    if (operation !== 'part' || count < 5) return null
    first.abort.abort(new Error('killed'))
    return 'reset'
  }
  await expect(shelf.put(NAME, path, first)).rejects.toThrow('killed')
  const [[, upload] = []] = server.uploads
  const there = upload?.parts.size ?? 0
  expect(there).toBe(5)
  server.misdeed = () => null
  const before = server.count('part')
  const second = putting()
  await shelf.put(NAME, path, second)
  expect(server.count('part') - before).toBe(8 - there)
  expect(server.count('create')).toBe(1)
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
})

test('an upload of other bytes under the same name is given up', async () => {
  const { server, shelf } = await stand()
  server.misdeed = (operation, count) => (operation === 'part' && count >= 2 ? 'error-500' : null)
  await expect(shelf.put(NAME, fileOf(4_000, 'old').path, putting())).rejects.toThrow()
  server.misdeed = () => null
  const { path, body } = fileOf(4_000, 'new')
  await shelf.put(NAME, path, putting())
  expect(server.uploads.size).toBe(0)
  expect(server.count('abort')).toBe(1)
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
})

test.each(['denied', 'not-implemented'] as const)(
  'a store that will not list uploads (%s) is used all the same',
  async (misdeed) => {
    const { server, shelf } = await stand({
      misdeed: (operation) => (operation.startsWith('list') ? misdeed : null),
    })
    const { path, body } = fileOf(2_200)
    await shelf.put(NAME, path, putting())
    expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
  },
)

test('a clock that is an hour wrong is corrected by that of the store', async () => {
  const { server, shelf } = await stand({ clockMs: 3_600_000 })
  const { path, body } = fileOf(1_500)
  await shelf.put(NAME, path, putting())
  expect(server.objects.get(KEY)?.body.equals(body)).toBe(true)
})

test('a bucket of another region says so, and is spoken to as of that', async () => {
  const { server, shelf } = await stand({ region: 'eu-central-1' })
  const { path } = fileOf(1_500)
  await shelf.put(NAME, path, putting())
  expect(server.objects.size).toBe(1)
})

test('keys that are wrong are told, and not tried again', async () => {
  const server = await S3Server.start()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const shelf = await openShelf(partsFor(server, {}, { ...ENVIRONMENT, AWS_SECRET_ACCESS_KEY: 'wrong' }))
  const put = shelf.put(NAME, fileOf(10).path, putting())
  await expect(put).rejects.toMatchObject({
    code: 'SHELF_REFUSED',
    message: expect.stringContaining('SignatureDoesNotMatch'),
  })
  shelf.close()
})

test('keys come from variables of any name, or from a profile, and are missed aloud', async () => {
  const server = await S3Server.start()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const credentials = join(folder, 'credentials')
  writeFileSync(
    credentials,
    `[other]\naws_access_key_id=no\n[p1]\n aws_access_key_id = ${ACCESS_KEY}\naws_secret_access_key=${SECRET_KEY}\n`,
  )
  const ways: [Partial<ShelfOptions>, Record<string, string>][] = [
    [
      { accessKeyVariable: 'MY_KEY', secretKeyVariable: 'MY_SECRET' },
      { MY_KEY: ACCESS_KEY, MY_SECRET: SECRET_KEY },
    ],
    [{ profile: 'p1' }, { AWS_SHARED_CREDENTIALS_FILE: credentials }],
    [{}, { AWS_SHARED_CREDENTIALS_FILE: credentials, AWS_PROFILE: 'p1' }],
  ]
  for (const [options, environment] of ways) {
    const shelf = await openShelf(partsFor(server, options, environment))
    await shelf.put(NAME, fileOf(10).path, putting())
    shelf.close()
  }
  const none = await openShelf(partsFor(server, {}, { AWS_SHARED_CREDENTIALS_FILE: join(folder, 'none') }))
  await expect(none.put(NAME, fileOf(10).path, putting())).rejects.toMatchObject({
    code: 'SHELF_REFUSED',
    message: expect.stringContaining('AWS_ACCESS_KEY_ID'),
  })
})

test('a store behind TLS is trusted by the certificate that is named, and by no other', async () => {
  const server = await S3Server.start({ tls: AUTHORITY.tls })
  onTestFinished(() => server[Symbol.asyncDispose]())
  const trusting = await openShelf(partsFor(server, { ca: AUTHORITY.caFile }, ENVIRONMENT))
  await trusting.put(NAME, fileOf(10).path, putting())
  trusting.close()
  const wary = await openShelf(partsFor(server, {}, ENVIRONMENT))
  await expect(wary.put(NAME, fileOf(11).path, putting())).rejects.toMatchObject({ code: 'SHELF_REFUSED' })
  wary.close()
})

test('a file is never in memory whole', async () => {
  const { server, shelf } = await stand({}, { partBytes: 4_000_000 })
  const { path, body } = fileOf(9_000_000)
  const own = putting()
  await shelf.put(NAME, path, own)
  expect(own.moved()).toBe(body.length)
  expect(server.objects.get(KEY)?.body.equals(readFileSync(path))).toBe(true)
})

function partsFor(server: S3Server, options: Partial<ShelfOptions>, environment: Record<string, string>) {
  return {
    options: { ...shelfOptions.parse({ to: `s3://${server.bucket}/p/`, endpoint: server.endpoint }), ...options },
    folder: 'crawl',
    environment,
    clock: systemClock,
    random: new Random(1),
  }
}
