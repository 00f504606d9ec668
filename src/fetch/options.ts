import { accessSync, constants, statSync } from 'node:fs'
import { z } from 'zod'
import { choice, count, duration, shaped, size, text, yesNo } from '../base/options.ts'
import { readProxy } from './proxy.ts'

/** Headers that belong to the connection or to other options. */
const OWN_HEADERS = new Set([
  'host',
  'connection',
  'content-length',
  'transfer-encoding',
  'keep-alive',
  'upgrade',
  'expect',
  'te',
  'trailer',
  'proxy-authorization',
  'authorization',
  // Sent to every host, it would tell each of them the secrets of another.
  'cookie',
  // Said of a page that is visited again, by what its own last answer said.
  'if-none-match',
  'if-modified-since',
  'user-agent',
])

/** What may stand in a header: no line ends, nothing above Latin-1. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

function headerComplaint(value: string): string | null {
  if (HEADER_VALUE.test(value)) return null
  return `${JSON.stringify(value)} has characters that cannot stand in a header`
}

/** The file is not read here: it may be a pipe, which can be read but once. */
function fileComplaint(path: string): string | null {
  if (path === '') return null
  try {
    accessSync(path, constants.R_OK)
    return statSync(path).isDirectory() ? `'${path}' is a directory` : null
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code
    return errno === 'ENOENT' ? `there is no file '${path}'` : `'${path}' cannot be read (${errno ?? 'unknown'})`
  }
}

const extraHeaders = z.record(
  z
    .string()
    .regex(/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'not the name of a header')
    .refine((name) => !OWN_HEADERS.has(name.toLowerCase()), 'this header is set by Portolan itself'),
  z.string().regex(HEADER_VALUE, 'not the value of a header'),
)

const login = z
  .strictObject({
    host: z.string().min(1),
    user: z.string().regex(/^[^:]*$/, 'a user name has no colon'),
    password: z.string().optional(),
    passwordEnv: z.string().optional(),
  })
  .refine(
    (one) => (one.password === undefined) !== (one.passwordEnv === undefined),
    'give password or passwordEnv, one of them',
  )

const directory = z.string().superRefine((path, context) => {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  context.addIssue({ code: 'custom', message: `there is no directory '${path}'` })
})

const pemFile = z.string().superRefine((path, context) => {
  const message = path === '' ? 'name a file' : fileComplaint(path)
  if (message !== null) context.addIssue({ code: 'custom', message })
})

const clientCertificate = z.strictObject({
  hosts: z.array(z.string().min(1)).min(1),
  certFile: pemFile,
  keyFile: pemFile,
  passphraseEnv: z.string().optional(),
})

const mediaRange = z
  .string()
  .regex(/^([\w!#$&^.+-]+\/([\w!#$&^.+-]+|\*)|\*\/\*)$/, "not a media type; write it like 'text/html' or 'text/*'")

export const fetchOptions = z.strictObject({
  userAgent: text(
    '',
    { text: 'How we introduce ourselves; empty: Portolan, its version and the contact.', flag: 'user-agent' },
    headerComplaint,
  ),
  contact: text(
    '',
    { text: 'Where site owners can complain: a mail address or a page.', flag: 'contact' },
    headerComplaint,
  ),
  accept: text(
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    { text: 'The Accept header.' },
    headerComplaint,
  ),
  acceptLanguage: text('en,*;q=0.5', { text: 'The Accept-Language header; empty: none.' }, headerComplaint),
  headers: shaped(
    extraHeaders.default({}),
    { text: 'Headers sent with every request, to every host, by name; no place for secrets.' },
    'none',
  ),
  logins: shaped(
    z.array(login).default([]),
    {
      text: 'Names and passwords: host (with its port if that is not the usual one) for HTTP basic authentication, ftp://host for FTP; user, and password or passwordEnv; sent to that host and port only, and over plain http only where a port is given (`host:80`).',
    },
    'none',
  ),
  acceptTypes: shaped(
    z.array(mediaRange).default([]),
    { text: "media types worth having, like 'text/*'; others are skipped on their head" },
    'all',
  ),
  rejectTypes: shaped(z.array(mediaRange).default([]), { text: 'Media types that are skipped on their head.' }, 'none'),
  headFirst: choice(['never', 'doubtful', 'always'], 'never', {
    text: 'Ask for the head of a page before the page: never, where the ending of the URL makes type or size doubtful, or always.',
    flag: 'head-first',
  }),
  cookies: choice(['host', 'off'], 'host', {
    text: 'host: cookies are sent back to the host that set them, while the crawl runs; off: never.',
    flag: 'cookies',
  }),
  cookiesPerHost: count(50, { text: 'Cookies kept of one host; the oldest go first.' }, { min: 1 }),
  cookieBytes: size('8MiB', { text: 'Memory for cookies of all hosts; those of the longest unused go first.' }),
  conditional: yesNo(true, {
    text: 'Whether a page that is visited again is asked for only if it has changed (ETag, Last-Modified).',
    flag: 'conditional',
  }),
  announcedMax: size('1GiB', { text: 'An answer that announces more bytes than this is skipped.' }),
  connectTimeout: duration('10s', { text: 'For one address to accept the connection, TLS included.' }, { minMs: 1 }),
  headTimeout: duration('30s', { text: 'From the request to the end of the answer’s head.' }, { minMs: 1 }),
  stallTimeout: duration('30s', { text: 'Between two pieces of a body.' }, { minMs: 1 }),
  requestTimeout: duration('1m', { text: 'For the whole request; a body under way is cut and kept.' }, { minMs: 1 }),
  headMax: size('64KiB', { text: 'The largest head of an answer.' }, 1),
  bodyMax: size('64MiB', { text: 'A body is cut here, as it comes.' }),
  robotsMax: size('512KiB', { text: 'A robots.txt is cut here.' }),
  decodedMax: size('128MiB', { text: 'A body is cut here, decompressed.' }),
  ratioMax: count(
    100,
    { text: 'A body is cut when it decompresses to more than this many times its size.' },
    { min: 1 },
  ),
  ratioFrom: size('1MiB', { text: 'Up to this size no compression ratio is suspicious.' }),
  keepAlive: duration('15s', { text: 'How long an idle connection is kept; 0: one request per connection.' }),
  connectionsKept: count(
    1_024,
    { text: 'Hosts whose connection is kept; the longest unused is closed first.' },
    { min: 1 },
  ),
  tls: choice(['verify', 'accept-any'], 'verify', { text: 'Whether certificates must be valid.' }),
  http2: choice(['off', 'needed', 'offered'], 'off', {
    text: 'HTTP/2 over TLS: never, only with servers that refuse HTTP/1.1, or with all that offer it (some 0.2 ms of processor time more for each page).',
    flag: 'http2',
  }),
  caFile: text(
    '',
    {
      text: 'A PEM file of certificates to trust beside those of the system.',
      flag: 'ca-file',
      placeholder: 'PATH',
    },
    fileComplaint,
  ),
  clientCertificates: shaped(
    z.array(clientCertificate).default([]),
    {
      text: "Certificates that prove who we are: hosts (like 'intranet.example' or '*.example'), certFile and keyFile (PEM), and passphraseEnv if the key has a passphrase; shown to those hosts only.",
    },
    'none',
  ),
  ftpTls: choice(['off', 'require'], 'off', {
    text: 'Whether ftp: servers must encrypt (AUTH TLS, with a certificate as tls wants it); ftps: ones always do.',
  }),
  allowFiles: shaped(
    z.array(directory).default([]),
    {
      text: 'Directories of this machine that file: URLs may be read from, all below them included.',
      flag: 'allow-files',
      placeholder: 'DIR',
    },
    'none',
  ),
  allowPrivate: yesNo(false, { text: 'Connect to private addresses too.', flag: 'allow-private' }),
  proxy: text(
    '',
    {
      text: 'A proxy, http://[user:password@]host:port; also https://, socks5:// (names resolved here) and socks5h:// (names left to the proxy).',
      flag: 'proxy',
      placeholder: 'URL',
    },
    (value) => {
      const proxy = value === '' ? null : readProxy(value)
      return typeof proxy === 'string' ? proxy : null
    },
  ),
})
export type FetchOptions = z.infer<typeof fetchOptions>
