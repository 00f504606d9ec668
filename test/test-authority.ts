// An authority of our own for the tests of a file: a server's side of TLS, the file that trusts it, and a folder for more.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TlsOptions } from 'node:tls'
import { afterAll } from 'vitest'
import { Certificates } from '../testweb/serve/certificates.ts'

export interface TestAuthority {
  readonly certificates: Certificates
  /** For servers: a good certificate for whatever name is asked for. */
  readonly tls: TlsOptions
  readonly directory: string
  readonly caFile: string
}

/** Gone when the tests of the file are. */
export function openAuthority(): TestAuthority {
  const certificates = new Certificates(Date.now())
  const directory = mkdtempSync(join(tmpdir(), 'portolan-ca-'))
  const caFile = join(directory, 'ca.pem')
  writeFileSync(caFile, certificates.authority)
  afterAll(() => rmSync(directory, { recursive: true }))
  const tls: TlsOptions = { SNICallback: (name, done) => done(null, certificates.contextFor(name)) }
  return { certificates, tls, directory, caFile }
}
