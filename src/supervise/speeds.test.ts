// Limits are shared out, kept for those that are started again, and never more than the system allows.

import { expect, test, vi } from 'vitest'
import type { CrawlSettings } from '../agent/index.ts'
import { Speeds } from './speeds.ts'

const settings = { agent: { connections: 9_000 }, fetch: { connectionsKept: 8_000 } } as unknown as CrawlSettings

test('connections that the system does not allow are not planned, and somebody hears of it', () => {
  const onWarning = vi.fn<(what: string) => void>()
  const { agent, fetch } = new Speeds(2, 4_096).affordable(settings, onWarning)
  expect(agent.connections).toBe(3_558)
  expect(fetch.connectionsKept).toBe(3_558)
  expect(onWarning.mock.calls).toEqual([[expect.stringContaining('--connections 9000 needs more open files')]])
  onWarning.mockClear()
  expect(new Speeds(2, 100_000).affordable(settings, onWarning)).toEqual(settings)
  expect(onWarning).not.toHaveBeenCalled()
})

test('what is said for all is shared, what is said for one is its own, and both are kept', () => {
  const speeds = new Speeds(2, 4_096)
  expect([...speeds.change({ ratePerSecond: 10, connections: 9_000 }, null)]).toEqual([
    [0, { ratePerSecond: 5, connections: 1_779 }],
    [1, { ratePerSecond: 5, connections: 1_779 }],
  ])
  expect([...speeds.change({ ratePerSecond: null, bytesPerSecond: 7 }, 1)]).toEqual([
    [1, { ratePerSecond: null, bytesPerSecond: 7 }],
  ])
  expect(speeds.of(0)).toEqual({ ratePerSecond: 5, connections: 1_779 })
  expect(speeds.of(1)).toEqual({ ratePerSecond: null, bytesPerSecond: 7, connections: 1_779 })
})

test.for([
  { ratePerSecond: 0 },
  { ratePerSecond: -1 },
  { bytesPerSecond: Number.NaN },
  { connections: 0 },
  { connections: 1.5 },
])('%o is refused, and nothing is changed', (change) => {
  const speeds = new Speeds(1, 4_096)
  expect(() => speeds.change(change, null)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  expect(speeds.of(0)).toEqual({})
})
