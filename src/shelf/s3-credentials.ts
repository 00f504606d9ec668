// Who we are to an S3-compatible store. Never on a command line, never in a URL, never in a file of ours:
//
//   the variables named by the options (AWS_ACCESS_KEY_ID …) ─ none? ─▶ the profile in the AWS files ─ none? ─▶ told
//
// Read anew for every file that is put, so that keys which are changed while a crawl runs are taken up.

import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Fault } from '../base/index.ts'
import type { Credentials } from './sigv4.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface CredentialNames {
  readonly accessKeyVariable: string
  readonly secretKeyVariable: string
  readonly sessionTokenVariable: string
  /** Of the AWS files; '' for what AWS_PROFILE says, or `default`. */
  readonly profile: string
}

export async function findCredentials(names: CredentialNames, environment: Environment): Promise<Credentials> {
  const accessKey = environment[names.accessKeyVariable] ?? ''
  const secretKey = environment[names.secretKeyVariable] ?? ''
  if (accessKey !== '' && secretKey !== '') {
    return { accessKey, secretKey, sessionToken: environment[names.sessionTokenVariable] || null }
  }
  const profile = profileOf(names, environment)
  const path = environment['AWS_SHARED_CREDENTIALS_FILE'] || join(homedir(), '.aws/credentials')
  const found = readProfile(await textOf(path), profile)
  const [key, secret] = [found.get('aws_access_key_id') ?? '', found.get('aws_secret_access_key') ?? '']
  if (key !== '' && secret !== '') {
    return { accessKey: key, secretKey: secret, sessionToken: found.get('aws_session_token') || null }
  }
  throw new Fault(
    'SHELF_REFUSED',
    `no keys for the store: set ${names.accessKeyVariable} and ${names.secretKeyVariable}, or profile [${profile}] in ${path}`,
  )
}

/** What the environment or the profile says; null where neither does. */
export async function findRegion(names: CredentialNames, environment: Environment): Promise<string | null> {
  const said = environment['AWS_REGION'] || environment['AWS_DEFAULT_REGION']
  if (said) return said
  const profile = profileOf(names, environment)
  const path = environment['AWS_CONFIG_FILE'] || join(homedir(), '.aws/config')
  const section = profile === 'default' ? profile : `profile ${profile}`
  return readProfile(await textOf(path), section).get('region') ?? null
}

function profileOf({ profile }: CredentialNames, environment: Environment): string {
  return profile || environment['AWS_PROFILE'] || 'default'
}

async function textOf(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '')
}

/** `name = value` lines of one `[section]`. */
function readProfile(text: string, section: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  let isIn = false
  for (const raw of text.split('\n')) {
    const line = raw.trim()
    const header = /^\[\s*(.+?)\s*\]/.exec(line)
    if (header !== null) isIn = header[1] === section
    const at = line.indexOf('=')
    if (isIn && header === null && at > 0 && !/^[#;]/.test(line)) {
      values.set(line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim())
    }
  }
  return values
}
