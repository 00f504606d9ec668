import { expect, test } from 'vitest'
import { EMPTY_SHA256, encode, encodePath, sign, type SignedRequest } from './sigv4.ts'

// The examples that Amazon publishes for S3 ("Signature Calculations for the Authorization Header"), with their keys.
const SIGNING = {
  credentials: {
    accessKey: 'AKIAIOSFODNN7EXAMPLE',
    secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
    sessionToken: null,
  },
  region: 'us-east-1',
  service: 's3',
  wallMs: Date.UTC(2013, 4, 24),
}
const GET: SignedRequest = {
  method: 'GET',
  host: 'examplebucket.s3.amazonaws.com',
  path: '/',
  query: [],
  headers: {},
  sha256: EMPTY_SHA256,
}

function signatureOf(request: SignedRequest): string | undefined {
  return /Signature=(.*)$/.exec(sign(request, SIGNING)['authorization'] ?? '')?.[1]
}

test('signs a GET with a range as Amazon does', () => {
  expect(signatureOf({ ...GET, path: '/test.txt', headers: { range: 'bytes=0-9' } })).toBe(
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  )
})

test('signs a PUT with a body, a name that is encoded and headers of its own as Amazon does', () => {
  expect(
    signatureOf({
      ...GET,
      method: 'PUT',
      path: `/${encodePath('test$file.text')}`,
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      sha256: '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072',
    }),
  ).toBe('98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd')
})

test('signs a query without and with values as Amazon does', () => {
  expect(signatureOf({ ...GET, query: [['lifecycle', '']] })).toBe(
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  )
  const query = [
    ['max-keys', '2'],
    ['prefix', 'J'],
  ] as const
  expect(signatureOf({ ...GET, query })).toBe('34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7')
})

test('signs the token of temporary keys, and never shows the secret', () => {
  const credentials = { ...SIGNING.credentials, sessionToken: 'TOKEN' }
  const headers = sign(GET, { ...SIGNING, credentials })
  expect(headers['x-amz-security-token']).toBe('TOKEN')
  expect(headers['authorization']).toContain('x-amz-security-token')
  expect(JSON.stringify(headers)).not.toContain('wJalr')
})

test('encodes everything that S3 wants encoded, and slashes only in values', () => {
  expect(encode("a/b ~-_.!'()*ü+")).toBe('a%2Fb%20~-_.%21%27%28%29%2A%C3%BC%2B')
  expect(encodePath('a b/c+d')).toBe('a%20b/c%2Bd')
})
