// Who we say we are to NATS: read once, from files and the environment, when a node starts.

import { readFileSync } from 'node:fs'
import { diskFault, Fault } from '../base/index.ts'
import { readServerUrl, serverComplaint, shownServer } from './nats-server-url.ts'
import type { EngineOptions } from './options.ts'

export interface NatsCredentials {
  readonly user?: string
  readonly password?: string
  readonly token?: string
  /** What stands in a credentials file. */
  readonly creds?: Uint8Array
  readonly nkeySeed?: Uint8Array
  /** Contents in PEM. Present, if empty, where the connection must be encrypted. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
}

export interface NatsAccess {
  /** Without logins: they may be shown. */
  readonly servers: readonly string[]
  readonly credentials: NatsCredentials
  /** For whoever started the node. */
  readonly warnings: readonly string[]
}

export function readNatsAccess(
  options: Omit<EngineOptions, 'natsReplicas'>,
  env: Readonly<Record<string, string | undefined>>,
): NatsAccess {
  const warnings: string[] = []
  const servers: string[] = []
  const logins: NatsCredentials[] = []
  let isTls = false
  for (const text of options.nats) {
    const url = readServerUrl(text)
    if (url === null) throw new Fault('CONFIG_INVALID', serverComplaint(text) ?? 'not the address of a NATS server')
    servers.push(shownServer(url))
    isTls ||= url.isTls
    if (url.login === null) continue
    const { user, password } = url.login
    logins.push(password === null ? { token: user } : { user, password })
    warnings.push(
      `${shownServer(url)} is given with a password in its address; keep it in the environment (${options.natsPasswordEnv}) or in a file instead`,
    )
  }
  if (servers.length === 0) throw new Fault('CONFIG_INVALID', 'no NATS server is given; name one like nats://host:4222')

  if (options.natsUser !== '') {
    const password =
      options.natsPasswordFile === ''
        ? env[options.natsPasswordEnv]
        : secretIn(options.natsPasswordFile, 'the password')
    if (password === undefined) {
      throw new Fault(
        'CONFIG_INVALID',
        `NATS user ${options.natsUser} has no password: the environment has no variable ${options.natsPasswordEnv}, and no file is named`,
      )
    }
    logins.push({ user: options.natsUser, password })
  }
  const token = options.natsTokenFile === '' ? env[options.natsTokenEnv] : secretIn(options.natsTokenFile, 'the token')
  // A variable that happens to be set is not meant where a file says who we are.
  const isTokenMeant =
    options.natsTokenFile !== '' || (logins.length === 0 && options.natsCreds + options.natsNkey === '')
  if (token !== undefined && token !== '' && isTokenMeant) logins.push({ token })
  if (options.natsCreds !== '') logins.push({ creds: bytesIn(options.natsCreds, 'the credentials') })
  if (options.natsNkey !== '')
    logins.push({ nkeySeed: Buffer.from(secretIn(options.natsNkey, 'the seed of the nkey')) })
  if (new Set(logins.map((login) => JSON.stringify(login))).size > 1) {
    throw new Fault(
      'CONFIG_INVALID',
      'NATS is to be told in more than one way who we are: give one of a user, a token, a credentials file and an nkey',
    )
  }
  if ((options.natsCert === '') !== (options.natsKey === '')) {
    throw new Fault('CONFIG_INVALID', 'a certificate for NATS needs its key, and a key its certificate')
  }
  const pem = (file: string, what: string): string | undefined =>
    file === '' ? undefined : bytesIn(file, what).toString('utf8')
  const ca = pem(options.natsCa, 'the certificates of NATS')
  const cert = pem(options.natsCert, 'the certificate for NATS')
  const key = pem(options.natsKey, 'the key for NATS')
  const parts = {
    ...(ca === undefined ? {} : { ca }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
  }
  isTls ||= Object.keys(parts).length > 0
  return { servers, credentials: { ...logins[0], ...(isTls ? { tls: parts } : {}) }, warnings }
}

function bytesIn(file: string, what: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw diskFault(`reading ${what} from ${file}`, error)
  }
}

/** One line of text: editors add an end of line that is not meant. */
function secretIn(file: string, what: string): string {
  return bytesIn(file, what).toString('utf8').trim()
}
