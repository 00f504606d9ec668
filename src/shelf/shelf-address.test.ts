import { expect, test } from 'vitest'
import { addressComplaint, endpointComplaint, readAddress } from './shelf-address.ts'

test('places are read as they are written', () => {
  expect(readAddress('file:///mnt/a%20b/')).toEqual({ kind: 'directory', path: '/mnt/a b/' })
  expect(readAddress('s3://bucket')).toEqual({ kind: 's3', bucket: 'bucket', prefix: '' })
  expect(readAddress('s3://my.bucket/a/b%20c/')).toEqual({ kind: 's3', bucket: 'my.bucket', prefix: 'a/b c/' })
})

test.each([
  ['/mnt/archive', 'not a URL'],
  ['s3://key:secret@bucket/', 'must not hold keys'],
  ['file://server/share', 'three slashes'],
  ['https://bucket.s3.amazonaws.com/', 'is not understood'],
  ['s3://bucket/?a=b', 'must not have'],
  ['s3:///prefix', 'no name of a bucket'],
])('%s is refused: %s', (text, why) => {
  expect(addressComplaint(text)).toContain(why)
})

test('an endpoint has no path, no keys, and speaks HTTP', () => {
  expect(endpointComplaint('http://127.0.0.1:9000')).toBeNull()
  expect(endpointComplaint('https://minio.example/bucket')).toContain('no path')
  expect(endpointComplaint('https://a:b@minio.example')).toContain('keys')
  expect(endpointComplaint('minio.example:9000')).toContain('not a URL')
})
