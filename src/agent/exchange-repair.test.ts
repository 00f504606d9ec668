// After one agent has lost its end: the others take its next batches for new, and tell it again what it may not have.

import { expect, test } from 'vitest'
import { type AgentEnd, mendExchange } from './exchange-repair.ts'

function agent(place: number, parts: Partial<AgentEnd> & { settled?: number; holds?: number[] } = {}): AgentEnd {
  const { settled = 0, holds = [0, 0, 0], ...rest } = parts
  return {
    share: `state/agents/${place}`,
    first: 1,
    last: 100,
    exchange: { settled, holds },
    hasLostEnd: false,
    ...rest,
  }
}

test('whole agents say what they said', () => {
  const agents = [
    agent(0, { settled: 99, holds: [0, 40, 100] }),
    agent(1, { settled: 99, holds: [100, 0, 7] }),
    agent(2, { settled: 99, holds: [3, 100, 0] }),
  ]
  expect(mendExchange(agents)).toEqual({ findings: [], states: [null, null, null] })
})

test('an end that was lost: what others hold of it is lowered, and what was settled with it is told again', () => {
  const agents = [
    agent(0, { settled: 90, holds: [0, 60, 5], last: 50, hasLostEnd: true }),
    agent(1, { settled: 95, holds: [57, 0, 9] }),
    agent(2, { settled: 95, holds: [30, 100, 0] }),
  ]
  const { findings, states } = mendExchange(agents)
  expect(states).toEqual([null, { settled: 60, holds: [50, 0, 9] }, { settled: 5, holds: [30, 100, 0] }])
  expect(findings.map(({ share, state }) => [share, state])).toEqual([
    ['state/agents/0', 'damaged'],
    ['state/agents/1', 'whole'],
    ['state/agents/2', 'whole'],
  ])
})

test('an end that was lost without a trace is seen by what others hold of it', () => {
  const agents = [agent(0, { last: 50 }), agent(1, { settled: 80, holds: [51, 0, 0] }), agent(2)]
  const { findings, states } = mendExchange(agents)
  expect(findings[0]).toMatchObject({ share: 'state/agents/0', part: 'exchange', state: 'damaged' })
  expect(states[1]).toEqual({ settled: 0, holds: [50, 0, 0] })
})

test('what the journal has forgotten cannot be told again, and that is said', () => {
  const agents = [
    agent(0, { holds: [0, 60, 0], last: 50, hasLostEnd: true }),
    agent(1, { settled: 95, first: 81, holds: [50, 0, 0] }),
    agent(2),
  ]
  const { findings, states } = mendExchange(agents)
  expect(states[1]).toEqual({ settled: 80, holds: [50, 0, 0] })
  expect(findings.find(({ share }) => share === 'state/agents/1')?.what).toMatch(/links found before batch 81/)
})

test('an agent that has done nothing yet has nothing to mend', () => {
  const none: AgentEnd = { share: 'state/agents/1', first: 0, last: 0, exchange: null, hasLostEnd: false }
  expect(mendExchange([agent(0, { holds: [0, 0] }), none])).toEqual({ findings: [], states: [null, null] })
})
