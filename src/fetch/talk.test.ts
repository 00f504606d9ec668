// The deadlines of a talk, and whose time they are.

import { tmpdir } from 'node:os'
import { expect, test } from 'vitest'
import { type ClockMs, ManualClock } from '../base/index.ts'
import { Spool } from '../document/index.ts'
import type { CanonicalUrl } from '../url/index.ts'
import { Connector } from './connector.ts'
import { fetchOptions } from './options.ts'
import { TalkEnd } from './talk-end.ts'
import { Talks } from './talk.ts'

test.each([
  ['a server that is silent for too long has missed its time', 0, 31_000, 'FETCH_HEAD_TIMEOUT'],
  ['one that was silent while we were held up has not', 40_000, 45_000, 'FETCH_NOT_AVAILABLE'],
  ['until that time has passed once more', 40_000, 71_000, 'FETCH_HEAD_TIMEOUT'],
  ['or all of it', 40_000, 101_000, 'FETCH_TIMEOUT'],
])('%s', async (_what, excusedMs, laterMs, code) => {
  const clock = new ManualClock()
  const options = fetchOptions.parse({ headTimeout: '30s', requestTimeout: '1m' })
  const talks = new Talks(options, new Spool(tmpdir(), 65_536), clock, new Connector(options, null))
  const url = 'gopher://a.test/' as CanonicalUrl
  const request = { url, addresses: [], purpose: 'page', isLast: false, acceptPartial: false } as const
  const outcome = await talks.run(request, new AbortController().signal, async (talk) => {
    talk.ask()
    talk.excuse(excusedMs)
    talk.check((clock.nowMs() + laterMs) as ClockMs)
    // Throws where the talk has ended.
    talk.ask()
    throw new TalkEnd('FETCH_NOT_AVAILABLE', 'not ended')
  })
  expect(outcome).toMatchObject({ kind: 'failed', code })
  talks.close()
})
