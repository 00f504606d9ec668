// Faults on purpose: asked for by name, drawn from a seed, counted across threads, and nothing at all when nobody asked.

import { describe, expect, test } from 'vitest'
import { ManualClock } from './clock.ts'
import { FAULT_POINT_NAMES, NO_FAULTS, parseFaultPlan } from './fault-point.ts'
import { FaultTally } from './fault-tally.ts'
import { FaultOnPurpose, SeededFaults } from './seeded-faults.ts'

function faultsOf(text: string, agent = 0, life = 0): { faults: SeededFaults; tally: FaultTally; clock: ManualClock } {
  const tally = new FaultTally(2)
  const clock = new ManualClock()
  return { faults: new SeededFaults(parseFaultPlan(text), tally, agent, life, clock), tally, clock }
}

/** At which of a thousand passes it strikes. */
function strikes(faults: SeededFaults): number[] {
  return Array.from({ length: 1_000 }, (_, at) => at).filter(() => faults.isDue('visitor'))
}

test('without an experiment no point does anything', () => {
  for (const point of FAULT_POINT_NAMES) {
    NO_FAULTS.hit(point)
    expect(NO_FAULTS.isDue(point)).toBe(false)
  }
})

describe('what is asked for', () => {
  test('is a point, how probable it is, and how often at most', () => {
    const { rates } = parseFaultPlan('visitor:0.01, agent-throw:1:20')
    expect(rates).toEqual({ visitor: { rate: 0.01, most: null }, 'agent-throw': { rate: 1, most: 20 } })
  })

  test.for(['', 'visitor', 'visitor:', 'visitor:2', 'visitor:-1', 'visitor:x', 'nobody:0.1', 'visitor:1:x', 'seed:'])(
    'is refused where it makes no sense: %j',
    (text) => {
      expect(() => parseFaultPlan(text)).toThrow(/PORTOLAN_FAULTS/)
    },
  )
})

describe('strikes', () => {
  test('are the same for the same seed, and others in another life, agent or seed', () => {
    const first = strikes(faultsOf('seed:a,visitor:0.1').faults)
    expect(first.length).toBeGreaterThan(50)
    expect(first.length).toBeLessThan(200)
    expect(strikes(faultsOf('seed:a,visitor:0.1').faults)).toEqual(first)
    expect(strikes(faultsOf('seed:b,visitor:0.1').faults)).not.toEqual(first)
    expect(strikes(faultsOf('seed:a,visitor:0.1', 1).faults)).not.toEqual(first)
    expect(strikes(faultsOf('seed:a,visitor:0.1', 0, 1).faults)).not.toEqual(first)
  })

  test('are limited over all agents and lives together', () => {
    const { faults, tally, clock } = faultsOf('visitor:1:3')
    const other = new SeededFaults(parseFaultPlan('visitor:1:3'), new FaultTally(2, tally.buffer), 1, 5, clock)
    const due = [faults, other, faults, other, faults].map((one) => one.isDue('visitor'))
    expect(due).toEqual([true, true, true, false, false])
    expect(tally.struck('visitor')).toBe(3)
  })

  test('throw where they are hit', () => {
    expect(() => faultsOf('stage:1').faults.hit('stage')).toThrow(FaultOnPurpose)
    expect(() => faultsOf('stage:1').faults.hit('visitor')).not.toThrow()
  })
})

test('a broken visit is mended by the next one, in the order in which they broke', () => {
  const { faults, tally, clock } = faultsOf('visitor:1,stage:1')
  faults.hit('visit')
  expect(() => faults.hit('visitor')).toThrow(FaultOnPurpose)
  clock.advance(2)
  expect(() => faults.hit('stage')).toThrow(FaultOnPurpose)
  clock.advance(1)
  faults.hit('visit')
  clock.advance(4)
  faults.hit('visit')
  faults.hit('visit')
  expect(tally.figures('visitor')).toEqual({ struck: 1, mended: 1, meanUs: 3_000, medianUs: 4_096, mostUs: 3_000 })
  expect(tally.figures('stage')).toEqual({ struck: 1, mended: 1, meanUs: 5_000, medianUs: 8_192, mostUs: 5_000 })
  expect(tally.lastMs(1)).toBe(0)
})
