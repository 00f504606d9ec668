// No password on the command line.

import type { Problem } from '../config/index.ts'

/** Whoever lists processes reads arguments: a password must not be among them. */
export function refuseLogins(flags: ReadonlyMap<string, string | true | readonly string[]>, problems: Problem[]): void {
  const servers = (flags.get('nats') ?? []) as readonly string[]
  if (servers.every((server) => !/^[a-z+]+:\/\/[^/]*@/i.test(server))) return
  problems.push({
    where: '--nats',
    what: 'an address with a login would show it to whoever lists processes; use --nats-user with NATS_PASSWORD in the environment, --nats-token-file or --nats-creds',
  })
}
