import { z } from 'zod'
import { count, duration, factor, shaped } from '../base/options.ts'
import { rulesSchema } from './host-rules-schema.ts'

export const frontierOptions = z.strictObject({
  delay: duration('1s', { text: 'Least rest of a host between two requests; 0ms for none at all.', flag: 'delay' }),
  ipDelay: duration('0ms', {
    text: 'Least time between two requests to one address, whatever the host (IPv6: per /48).',
    flag: 'ip-delay',
  }),
  // A browser opens six connections to one host; a machine that serves many hosts stands a few more.
  ipConnections: count(
    8,
    { text: 'Hosts of one address (IPv6: one /48) that are asked at the same time.', flag: 'ip-connections' },
    { min: 1 },
  ),
  domainDelay: duration(
    '0ms',
    {
      text: 'Least rest between two requests to hosts of one registrable domain, which are then asked one at a time; 0ms for none.',
      flag: 'domain-delay',
    },
    { maxMs: 86_400_000 },
  ),
  // As Heritrix does: a server spends at most a sixth of its time on us. Mercator used 10.
  latencyFactor: factor(5, {
    text: 'A host rests at least this many times as long as its last answer took; off when delay is 0ms.',
  }),
  restMax: duration('30s', { text: 'Longest rest that a slow answer alone may cause.' }),
  urlsPerTurn: count(
    20,
    { text: 'URLs asked in one go over one connection when no rest is due.' },
    { min: 1, max: 1_000 },
  ),
  backoff: duration(
    '5s',
    { text: 'Rest after the first 429, 503 or failure of a host; doubles with each in a row.' },
    { minMs: 1 },
  ),
  backoffMax: duration('10m', { text: 'Longest rest that failures in a row may cause.' }, { minMs: 1 }),
  retryAfterMax: duration('1d', { text: 'Longest Retry-After that is obeyed in full.' }),
  learntMax: duration('1m', {
    text: 'Longest rest between two requests that 429 and 503 may teach; 0ms: they teach nothing. Off when delay is 0ms.',
  }),
  rules: shaped(
    rulesSchema.default([]),
    {
      text: 'Manners for hosts one knows, first match wins: hosts (example.org, *.example.org, *), and delay, latencyFactor, crawlDelayMax, or hours like 22:00-06:00 with days and zone, outside of which they are not asked.',
    },
    'none',
  ),
})

export type FrontierOptions = z.output<typeof frontierOptions>

export { BANDS } from './frontier.ts'
