import { isIP } from 'node:net'
import { z } from 'zod'
import { choice, count, duration, shaped } from '../base/options.ts'

/** Address and port of a name server as Node's resolver takes it, or null: '127.0.0.1:5353', '[::1]:53', '9.9.9.9'. */
function serverOf(text: string): string | null {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+)|([^[\]]*:[^[\]]*:[^[\]]*))(?::(\d{1,5}))?$/.exec(text.trim())
  const ip = match?.[1] ?? match?.[2] ?? match?.[3] ?? ''
  const port = Number(match?.[4] ?? 53)
  if (isIP(ip) === 0 || port < 1 || port > 65_535) return null
  return isIP(ip) === 6 ? `[${ip}]:${port}` : `${ip}:${port}`
}

const server = z.string().transform((text, context) => {
  const parsed = serverOf(text)
  if (parsed !== null) return parsed
  context.addIssue({
    code: 'custom',
    message: `'${text}' is not the address of a name server; write it like 9.9.9.9 or 127.0.0.1:5353`,
  })
  return z.NEVER
})

export const dnsOptions = z.strictObject({
  servers: shaped(
    z.array(server).default([]),
    {
      text: 'Name servers to ask, in this order, instead of those of the system and /etc/hosts.',
      flag: 'dns',
      placeholder: 'IP:PORT',
    },
    'those of the system',
  ),
  prefer: choice(['4', '6'], '4', { text: 'The kind of address tried first, IPv4 or IPv6.' }),
  ask: choice(['both', 'preferred'], 'both', {
    text: 'Ask for both kinds of addresses, or only for the preferred one.',
  }),
  timeout: duration('5s', { text: 'How long one try of a query may take.' }, { minMs: 1 }),
  tries: count(2, { text: 'How often each name server is tried.' }, { min: 1, max: 10 }),
  queriesMax: count(256, { text: 'Hosts asked for at once; the next wait.' }, { min: 1 }),
  addressesMax: count(16, { text: 'Addresses kept of one host, of each kind.' }, { min: 1 }),
  cacheMax: count(65_536, { text: 'Hosts remembered; the longest unused is forgotten first.' }, { min: 1 }),
  ttlMin: duration('1m', { text: 'An answer is believed at least this long.' }),
  ttlMax: duration('1d', { text: 'An answer is believed at most this long.' }),
  noNameTtl: duration('15m', { text: 'How long a name that does not exist, or has no address, is believed so.' }),
  failureTtl: duration('5s', { text: 'How long a server error or a time-out is not asked again.' }),
})
export type DnsOptions = z.infer<typeof dnsOptions>
