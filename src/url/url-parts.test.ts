import { expect, test } from 'vitest'
import type { CanonicalUrl } from './canonical-url.ts'
import { directoryDepthOf, directoryOf, hostKeyOf, originOf, pathOf, schemeOf } from './url-parts.ts'

test.each([
  ['http://example.org/', 'http', 'example.org', 'http://example.org', '/', 'http://example.org/', 0],
  ['https://h:8443/a', 'https', 'h', 'https://h:8443', '/a', 'https://h:8443/', 0],
  ['http://h:1/a/', 'http', 'h', 'http://h:1', '/a/', 'http://h:1/a/', 1],
  ['http://h:65535/a/b/c?d/e', 'http', 'h', 'http://h:65535', '/a/b/c?d/e', 'http://h:65535/a/b/', 2],
  ['http://[::1]/a//b', 'http', '[::1]', 'http://[::1]', '/a//b', 'http://[::1]/a//', 2],
  ['http://[2001:db8::1]:81/', 'http', '[2001:db8::1]', 'http://[2001:db8::1]:81', '/', 'http://[2001:db8::1]:81/', 0],
  ['ftp://1.2.3.4/a:80/b', 'ftp', '1.2.3.4', 'ftp://1.2.3.4', '/a:80/b', 'ftp://1.2.3.4/a:80/', 1],
  ['gopher://h/?', 'gopher', 'h', 'gopher://h', '/?', 'gopher://h/', 0],
])('%s falls into its parts', (text, scheme, host, origin, path, directory, depth) => {
  const url = text as CanonicalUrl
  expect(schemeOf(url)).toBe(scheme)
  expect(hostKeyOf(url)).toBe(host)
  expect(originOf(url)).toBe(origin)
  expect(pathOf(url)).toBe(path)
  expect(directoryOf(url)).toBe(directory)
  expect(directoryDepthOf(url)).toBe(depth)
})
