// The address of a NATS server as people write it: `host`, `host:4222`, `nats://host:4222`, `tls://host`; a user and a
// password may stand in it, and are taken out before anything else sees it.

export interface NatsServerUrl {
  readonly host: string
  readonly port: number
  readonly isTls: boolean
  /** `user:password@`, or a token alone before the `@`. */
  readonly login: { readonly user: string; readonly password: string | null } | null
}

const PORT = 4_222

export function readServerUrl(text: string): NatsServerUrl | null {
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `nats://${text}`)
  if (url === null || !['nats:', 'tls:'].includes(url.protocol) || url.hostname === '') return null
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') return null
  return {
    host: url.hostname,
    port: url.port === '' ? PORT : Number(url.port),
    isTls: url.protocol === 'tls:',
    login:
      url.username === ''
        ? null
        : {
            user: decodeURIComponent(url.username),
            password: url.password === '' ? null : decodeURIComponent(url.password),
          },
  }
}

/** What may be shown of it. */
export function shownServer({ host, port, isTls }: NatsServerUrl): string {
  return `${isTls ? 'tls' : 'nats'}://${host}:${port}`
}

/** What is wrong with it, without repeating a password, or null. */
export function serverComplaint(text: string): string | null {
  if (readServerUrl(text) !== null) return null
  return `'${text.replace(/\/\/[^@]*@/, '//…@')}' is not the address of a NATS server; write it like nats://host:4222 or tls://host:4222`
}
