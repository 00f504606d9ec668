// When threads of a cluster's agents are started and ended: never two for one share, and none that nobody wants.

import { expect, test } from 'vitest'
import { ManualClock } from '../base/index.ts'
import { AgentCrew, type AgentThread, type CrewPlan, USUAL_CARE } from './agent-crew.ts'
import type { AgentEvents } from './agent-handle.ts'
import type { ClusterOrders, FromAgent, Opened } from './agent-messages.ts'

class FakeThread implements AgentThread {
  readonly status = null
  readonly events: AgentEvents
  isLetGo = false
  isGone: (isGone: boolean) => void = () => {}

  constructor(events: AgentEvents) {
    this.events = events
  }
  opens(): void {
    this.events.onMessage(0, { kind: 'opened', status: null, warnings: [] } as unknown as Opened)
  }
  says(message: FromAgent): void {
    this.events.onMessage(0, message)
  }
  tell(): void {}
  kill(): void {
    if (!this.isLetGo) this.events.onDeath(0, 'killed')
  }
  isStuck(): boolean {
    return false
  }
  letGo(): Promise<boolean> {
    this.isLetGo = true
    return new Promise((resolve) => (this.isGone = resolve))
  }
}

function stand(): { crew: AgentCrew; threads: FakeThread[]; left: unknown[]; stuck: number[] } {
  const threads: FakeThread[] = []
  const left: unknown[] = []
  const stuck: number[] = []
  const plan: CrewPlan = {
    agents: 1,
    dirOf: () => '/nowhere',
    isShared: false,
    clusterOf: () => ({}) as ClusterOrders,
    common: {} as CrewPlan['common'],
    clock: new ManualClock(),
    care: USUAL_CARE,
    faults: null,
    threadOf: (_orders, _status, events) => {
      const thread = new FakeThread(events)
      threads.push(thread)
      return thread
    },
  }
  const crew = new AgentCrew(plan, {
    phase: () => 'running',
    onMessage: () => {},
    onOpened: () => {},
    onLost: () => {},
    onAgain: () => {},
    onLeft: (_agent, _why, fault) => left.push(fault),
    onStuck: (agent) => stuck.push(agent),
  })
  return { crew, threads, left, stuck }
}

const turn = (): Promise<void> => new Promise(setImmediate)

test('a share is not opened before the thread that had it is gone', async () => {
  const { crew, threads } = stand()
  const first = crew.open(0)
  await turn()
  threads[0]?.opens()
  await first
  const ended = crew.end(0)
  const second = crew.open(0)
  await turn()
  expect(threads).toHaveLength(1)
  threads[0]?.isGone(true)
  await ended
  await turn()
  expect(threads).toHaveLength(2)
  threads[1]?.opens()
  await second
})

test('whoever ends a thread that is on its way out waits for it too', async () => {
  const { crew, threads } = stand()
  void crew.open(0).catch(() => {})
  await turn()
  let isEnded = false
  void crew.end(0)
  void crew.end(0).then(() => (isEnded = true))
  await turn()
  expect(isEnded).toBe(false)
  threads[0]?.isGone(true)
  await turn()
  expect(isEnded).toBe(true)
})

test('one that is ended while it waits to be opened is not opened', async () => {
  const { crew, threads } = stand()
  const first = crew.open(0)
  await turn()
  threads[0]?.opens()
  await first
  void crew.end(0)
  const second = crew.open(0)
  void crew.end(0)
  const third = crew.open(0)
  threads[0]?.isGone(true)
  await expect(second).rejects.toThrow('not wanted')
  await turn()
  expect(threads).toHaveLength(2)
  threads[1]?.opens()
  await third
})

test('nothing is opened when everything is let go of, and threads on their way out are waited for', async () => {
  const { crew, threads } = stand()
  void crew.open(0).catch(() => {})
  await turn()
  void crew.end(0)
  let isOver = false
  const over = crew.letGo().then(() => (isOver = true))
  await turn()
  expect(isOver).toBe(false)
  const late = crew.open(0)
  threads[0]?.isGone(true)
  await over
  await expect(late).rejects.toThrow('not wanted')
  expect(threads).toHaveLength(1)
})

test('a thread that cannot be ended keeps its share from being opened, and is told of', async () => {
  const { crew, threads, stuck } = stand()
  void crew.open(0).catch(() => {})
  await turn()
  const ended = crew.end(0)
  await turn()
  threads[0]?.isGone(false)
  await ended
  expect(stuck).toEqual([0])
  await expect(crew.open(0)).rejects.toThrow('cannot be ended')
})

test('shares that cannot be opened, and an engine that is away, use up no restarts', async () => {
  const { crew, threads, left } = stand()
  for (let tries = 0; tries < 20; tries++) {
    const opening = crew.open(0)
    await turn()
    threads.at(-1)?.says({ kind: 'broken', fault: { code: 'OBJECT_MISSING', message: 'gone', stack: null } })
    await expect(opening).rejects.toMatchObject({ code: 'OBJECT_MISSING' })
  }
  const opening = crew.open(0)
  await turn()
  threads.at(-1)?.opens()
  await opening
  crew.kill(0, 'broke')
  await turn()
  expect(left).toEqual([])
  threads.at(-1)?.says({ kind: 'broken', fault: { code: 'ENGINE_UNREACHABLE', message: 'away', stack: null } })
  await turn()
  expect(left).toMatchObject([{ code: 'ENGINE_UNREACHABLE' }])
})
