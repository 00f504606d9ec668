// Certificates by which we prove who we are, to the hosts they are meant for and to nobody else: a certificate names its
// owner, so no other server may ask for it.

import { readFileSync } from 'node:fs'
import { createSecureContext, type SecureContext } from 'node:tls'
import { Fault } from '../base/index.ts'
import type { FetchOptions } from './options.ts'

interface Card {
  readonly hosts: readonly string[]
  readonly context: SecureContext
}

export class ClientCertificates {
  readonly #cards: readonly Card[]

  /** `ca` is what servers are judged by, as everywhere. Throws a Fault when a file cannot be read or does not fit. */
  constructor(
    options: Pick<FetchOptions, 'clientCertificates'>,
    env: Readonly<Record<string, string | undefined>>,
    ca: string[] | undefined,
  ) {
    this.#cards = options.clientCertificates.map(({ hosts, certFile, keyFile, passphraseEnv }) => {
      const passphrase = passphraseEnv === undefined ? undefined : env[passphraseEnv]
      if (passphraseEnv !== undefined && passphrase === undefined) {
        throw new Fault('CONFIG_INVALID', `${keyFile}: the environment has no variable ${passphraseEnv}`)
      }
      try {
        const context = createSecureContext({
          cert: readFileSync(certFile),
          key: readFileSync(keyFile),
          ...(passphrase === undefined ? {} : { passphrase }),
          ...(ca === undefined ? {} : { ca }),
        })
        return { hosts: hosts.map((host) => host.toLowerCase()), context }
      } catch (cause) {
        const { message } = cause as Error
        throw new Fault('CONFIG_INVALID', `client certificate ${certFile}, ${keyFile}: ${message}`, cause)
      }
    })
  }

  /** Null for hosts that have nothing to know of us. */
  contextFor(hostname: string): SecureContext | null {
    const name = hostname.toLowerCase()
    for (const { hosts, context } of this.#cards) if (hosts.some((host) => covers(host, name))) return context
    return null
  }
}

/** `*.example.org` stands for all names below example.org, not for itself. */
function covers(pattern: string, name: string): boolean {
  return pattern.startsWith('*.') ? name.endsWith(pattern.slice(1)) : pattern === name
}
