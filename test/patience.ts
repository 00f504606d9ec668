// No test is about how long it takes (vitest.config.ts): what is waited for may take minutes on a machine that is busy with something else.
// Vitest's own bound is a second, which a full suite on two processors exceeds now and then.

import { vi } from 'vitest'

const PATIENCE_MS = 120_000

const { waitFor, waitUntil } = vi
vi.waitFor = (callback, options) => waitFor(callback, patient(options))
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))

function patient<T extends object>(options: number | T | undefined): number | (T & { timeout: number }) {
  if (typeof options === 'number') return options
  return { timeout: PATIENCE_MS, ...(options as T) }
}
