// A crawl that is killed at any moment, again and again, and gone on with by the same command, is the crawl that was never
// killed: every page once, none asked for again that was in a batch, nobody asked too soon, archive and figures whole.
//
// A handful of kills; `npm run crash` does it by the dozen, with more kinds of crawls (docs/durability.md).

import { describe, expect, test } from 'vitest'
import { crash, CRASH_VARIANTS, third } from './variants.ts'

const TIMEOUT_MS = 300_000

describe('killed three times, at random moments', () => {
  test.for(['gzip', 'polite', 'throttled', 'two', 'three'] as const)('%s', { timeout: TIMEOUT_MS }, async (name) => {
    const { problems, kills } = await crash(third(CRASH_VARIANTS[name]), 'short', 3)
    expect(problems).toEqual([])
    expect(kills.length).toBeGreaterThan(0)
  })
})
