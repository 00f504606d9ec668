// Names that are answered oddly, each under ODD_DOMAIN: <oddity>.odd.test, or anything.<oddity>.odd.test
// where a test needs several. Over HTTP every one of them is a host of a single page.

import { ODD_ADDRESS, ODD_ADDRESSES, ODD_DOMAIN } from '../content/host.ts'
import { CODE, type Data } from './message.ts'

export interface Oddity {
  readonly code: number
  readonly data: readonly Data[]
  readonly ttlS: number
  /** Answered this much later; Infinity is never. */
  readonly delayMs: number
  readonly isTruncatedOverUdp: boolean
}

/** What may stand before ODD_DOMAIN. `slow-<ms>` and `ttl-<s>` carry a number. */
export const ODDITIES = {
  nxdomain: 'the name does not exist',
  servfail: 'the server fails',
  refused: 'the server refuses',
  empty: 'the name exists without addresses',
  silent: 'no answer ever',
  slow: 'an answer after so many milliseconds: slow-250',
  ttl: 'an answer with this time to live in seconds: ttl-5',
  private: 'a private address',
  changing: 'another of four addresses with each question',
  rebinding: 'an address of the documentation net the first time, a loopback address from then on',
  several: 'four addresses',
  dead: 'an address where nobody listens, then one where somebody does',
  alias: 'a CNAME to plain.odd.test',
  'alias-loop': 'a CNAME to itself',
  truncated: 'truncated over UDP, whole over TCP',
  ipv6: 'an IPv6 address only',
  plain: 'an ordinary answer',
} as const
export type OddityName = keyof typeof ODDITIES

/** `count` is how often the name was asked before: what changes, changes with it. */
export function oddityOf(name: string, count: number): Oddity {
  const label =
    name
      .slice(0, -ODD_DOMAIN.length - 1)
      .split('.')
      .at(-1) ?? ''
  const [, word = label, number] = /^([a-z]+)-(\d+)$/.exec(label) ?? []
  switch (word as OddityName) {
    case 'nxdomain':
      return { ...ORDINARY, code: CODE.noName }
    case 'servfail':
      return { ...ORDINARY, code: CODE.serverFailed }
    case 'refused':
      return { ...ORDINARY, code: CODE.refused }
    case 'empty':
      return ORDINARY
    case 'silent':
      return { ...ORDINARY, delayMs: Number.POSITIVE_INFINITY }
    case 'slow':
      return { ...answer(ODD_ADDRESS), delayMs: Number(number ?? 200) }
    case 'ttl':
      return { ...answer(ODD_ADDRESS), ttlS: Number(number ?? 1) }
    case 'private':
      return answer('10.0.0.1')
    case 'changing':
      return { ...answer(ODD_ADDRESSES[count % ODD_ADDRESSES.length] ?? ODD_ADDRESS), ttlS: 0 }
    case 'rebinding':
      return { ...answer(count === 0 ? '192.0.2.1' : ODD_ADDRESS), ttlS: 0 }
    case 'several':
      return answer(...ODD_ADDRESSES)
    case 'dead':
      return answer('127.126.0.1', ODD_ADDRESS)
    case 'alias':
      return {
        ...ORDINARY,
        data: [
          { type: 'CNAME', target: `plain.${ODD_DOMAIN}` },
          { type: 'A', address: ODD_ADDRESS },
        ],
      }
    case 'alias-loop':
      return { ...ORDINARY, data: [{ type: 'CNAME', target: name }] }
    case 'truncated':
      return { ...answer(ODD_ADDRESS), isTruncatedOverUdp: true }
    case 'ipv6':
      return { ...ORDINARY, data: [{ type: 'AAAA', address: '::1' }] }
    default:
      return answer(ODD_ADDRESS)
  }
}

function answer(...addresses: string[]): Oddity {
  return { ...ORDINARY, data: addresses.map((address) => ({ type: 'A', address })) }
}

const ORDINARY: Oddity = { code: CODE.ok, data: [], ttlS: 60, delayMs: 0, isTruncatedOverUdp: false }
