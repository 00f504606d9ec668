import { Fault } from '../base/index.ts'
import type { FetchOptions } from './options.ts'

export interface Login {
  /** As configured: `host[:port]` for HTTP; `ftp://host[:port]` or `ftps://…` for FTP. */
  readonly host: string
  readonly user: string
  readonly password: string
}

/** Logins with their passwords. Throws a Fault when one is missing from the environment. */
export function readLogins(
  options: Pick<FetchOptions, 'logins'>,
  env: Readonly<Record<string, string | undefined>>,
): Login[] {
  return options.logins.map(({ host, user, password, passwordEnv }) => {
    const word = password ?? env[passwordEnv ?? '']
    if (word === undefined) {
      throw new Fault('CONFIG_INVALID', `login for ${host}: the environment has no variable ${passwordEnv}`)
    }
    return { host, user, password: word }
  })
}
