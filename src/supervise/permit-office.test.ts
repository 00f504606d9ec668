// `--max-pages` is exact whatever happens to agents: pages and permits together never exceed it, and whoever can use a
// permit gets one as long as there are any.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PermitOffice } from './permit-office.ts'

/** An agent with messages under way in both directions, each heard in order, and a thread that may end. */
interface ModelAgent {
  /** Pages that are in a batch, and in none yet. */
  committed: number
  pending: number
  permits: number
  waiting: number
  isShort: boolean
  /** Null while it is being opened: then it hears nothing, but what is said to it is kept. */
  isOpen: boolean
  toAgent: ({ readonly grant: number } | 'recall')[]
  fromAgent: ('short' | { readonly surrendered: number })[]
}

const AGENTS = 3

/** As the node does it, with every message under way. */
class ModelNode {
  readonly limit: number
  readonly office: PermitOffice
  readonly agents: ModelAgent[]

  constructor(limit: number, waiting: readonly number[]) {
    this.limit = limit
    this.office = new PermitOffice(limit, AGENTS)
    this.agents = waiting.map((count) => ({
      committed: 0,
      pending: 0,
      permits: 0,
      waiting: count,
      isShort: false,
      isOpen: true,
      toAgent: [],
      fromAgent: [],
    }))
    for (const agent of this.agents.keys()) this.office.opened(agent, 0)
  }

  get pages(): number {
    return this.agents.reduce((sum, { committed, pending }) => sum + committed + pending, 0)
  }

  one(agent: number): ModelAgent {
    return this.agents[agent] as ModelAgent
  }

  grant(agent: number): void {
    const grant = this.office.want(agent)
    if (grant > 0) this.one(agent).toAgent.push({ grant })
  }

  grantShort(): void {
    for (const short of this.office.short) this.grant(short)
  }

  work(agent: number): void {
    const one = this.one(agent)
    if (!one.isOpen || one.waiting === 0) return
    if (one.permits > 0) {
      one.permits--
      one.waiting--
      one.pending++
    } else if (!one.isShort) {
      one.isShort = true
      one.fromAgent.push('short')
    }
  }

  commit(agent: number): void {
    const one = this.one(agent)
    one.committed += one.pending
    one.pending = 0
  }

  agentHears(agent: number): void {
    const one = this.one(agent)
    if (!one.isOpen) return
    const message = one.toAgent.shift()
    if (message === undefined) return
    if (message === 'recall') {
      one.fromAgent.push({ surrendered: one.permits })
      one.permits = 0
    } else {
      one.permits += message.grant
      one.isShort = false
    }
  }

  nodeHears(agent: number): void {
    const message = this.one(agent).fromAgent.shift()
    if (message === undefined) return
    if (message === 'short') this.grant(agent)
    else {
      this.office.surrendered(agent, message.surrendered)
      this.grantShort()
    }
  }

  /** What it said is heard before its death is; what was said to it is lost with its thread. */
  die(agent: number): void {
    const one = this.one(agent)
    if (!one.isOpen) return
    while (one.fromAgent.length > 0) this.nodeHears(agent)
    one.waiting += one.pending
    Object.assign(one, { pending: 0, permits: 0, isShort: false, isOpen: false, toAgent: [] })
    this.office.died(agent)
  }

  open(agent: number): void {
    const one = this.one(agent)
    if (one.isOpen) return
    one.isOpen = true
    this.office.opened(agent, one.committed)
    this.grantShort()
  }

  /** Where somebody is short and nothing is left, all are asked for what they do not use. */
  round(): void {
    if (this.office.short.length === 0 || this.office.left > 0) return
    for (const one of this.agents) if (one.isOpen && one.permits > 0) one.toAgent.push('recall')
  }
}

type Event = (typeof EVENTS)[number]

/** Everything of these kinds that can happen happens, again and again. */
function inTurn(node: ModelNode, limit: number, kinds: readonly Event[]): void {
  for (let i = 0; i < 300; i++) {
    for (const kind of kinds) for (let agent = 0; agent < AGENTS; agent++) node[kind](agent)
    if (node.pages > limit) expect(node.pages).toBeLessThanOrEqual(limit)
  }
}

const EVENTS = ['work', 'commit', 'agentHears', 'nodeHears', 'die', 'open', 'round'] as const

test('pages never exceed the limit, and in the end there are as many as there can be', () => {
  const event = fc.tuple(fc.constantFrom(...EVENTS), fc.nat(AGENTS - 1))
  const waiting = fc.array(fc.oneof(fc.nat(2), fc.nat(40)), { minLength: AGENTS, maxLength: AGENTS })
  const limits = fc.nat(60)
  fc.assert(
    fc.property(
      limits,
      waiting,
      fc.array(event, { maxLength: 300 }),
      fc.nat(AGENTS - 1),
      (limit, counts, events, dies) => {
        const node = new ModelNode(limit, counts)
        for (const [kind, agent] of events) {
          node[kind](agent)
          expect(node.pages).toBeLessThanOrEqual(limit)
          expect(node.office.left).toBeGreaterThanOrEqual(0)
        }
        const most = Math.min(
          limit,
          counts.reduce((sum, count) => sum + count, 0),
        )
        // One dies when nobody has anything to do but wait; then everybody lives.
        inTurn(node, limit, ['open', 'work', 'commit', 'agentHears', 'nodeHears'])
        node.die(dies)
        inTurn(node, limit, ['open', 'work', 'commit', 'agentHears', 'nodeHears', 'round'])
        expect(node.pages).toBe(most)
      },
    ),
    { numRuns: 500 },
  )
})

test('what one that died had not used is free, and whoever is short hears of it', () => {
  const office = new PermitOffice(1, 2)
  expect(office.want(0)).toBe(1)
  expect(office.want(1)).toBe(0)
  expect(office.short).toEqual([1])
  office.died(0)
  expect(office.left).toBe(0)
  office.opened(0, 0)
  expect(office.left).toBe(1)
  expect(office.short).toEqual([1])
  expect(office.want(1)).toBe(1)
  expect(office.short).toEqual([])
})

test('nobody waits for permits in the name of the dead: what it were granted while it opens would be forgotten', () => {
  const office = new PermitOffice(1, 2)
  office.want(0)
  office.want(1)
  office.died(1)
  expect(office.short).toEqual([])
})

test('a crawl that goes on has what earlier runs left of the limit', () => {
  const office = new PermitOffice(10, 2)
  office.opened(0, 4)
  office.opened(1, 6)
  expect(office.left).toBe(0)
  expect(office.want(0)).toBe(0)
})

test('without a limit nobody needs any', () => {
  const office = new PermitOffice(null, 2)
  expect(office.left).toBe(Infinity)
  expect(office.want(0)).toBe(0)
  expect(office.short).toEqual([])
})
