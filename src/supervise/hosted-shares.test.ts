// Shares that come, go, fall silent and are lost, with agents that do what the test says.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, onTestFinished, test, vi } from 'vitest'
import { Fault } from '../base/index.ts'
import { type MemoryClient, MemoryEngine } from '../engine/index.ts'
import { RENEWAL_MS } from '../exchange/index.ts'
import { ShareLog } from '../replica/index.ts'
import type { CrewEvents, CrewPlan } from './agent-crew.ts'
import type { AgentStatus, Opened, ToAgent } from './agent-messages.ts'
import { type Crew, HostedShares, type HostedSharesParts } from './hosted-shares.ts'
import { markLent } from './lent-mark.ts'
import type { MeantOrders } from './meant-crawl.ts'
import type { NodeEvent } from './node.ts'
import type { CanonicalUrl } from '../url/index.ts'

const US = { node: 'a', incarnation: 'one' }
const status = { totals: { pages: 7 } } as unknown as AgentStatus
const opened = { status, warnings: [] } as unknown as Opened

class FakeCrew implements Crew {
  readonly restarts = 0
  readonly told: string[] = []
  readonly ended: number[] = []
  events: CrewEvents | null = null
  plan: CrewPlan | null = null
  /** What opening comes to. */
  opens: (share: number) => Promise<Opened> = async () => opened
  /** What ending waits for. */
  gone: Promise<void> = Promise.resolve()
  readonly #open = new Set<number>()

  watch(): void {}
  async open(share: number): Promise<Opened> {
    this.plan?.meantOf?.(share)
    const done = await this.opens(share)
    this.#open.add(share)
    this.events?.onOpened(share, done)
    return done
  }
  end(share: number): Promise<void> {
    this.#open.delete(share)
    this.ended.push(share)
    return this.gone
  }
  kill(): void {}
  tell(share: number, message: ToAgent): void {
    if (!this.#open.has(share)) return
    this.told.push(`${share} ${message.kind}`)
    if (message.kind === 'finish') this.says(share, { kind: 'ended', reason: 'interrupted', fault: null, status })
    if (message.kind === 'close') this.says(share, { kind: 'closed', fault: null })
  }
  says(share: number, message: Parameters<CrewEvents['onMessage']>[1]): void {
    queueMicrotask(() => this.events?.onMessage(share, message))
  }
  statusOf(share: number): AgentStatus | null {
    return this.#open.has(share) ? status : null
  }
  async letGo(): Promise<void> {}
}

interface Stand {
  readonly crew: FakeCrew
  readonly shares: HostedShares
  readonly engine: MemoryClient
  readonly events: NodeEvent[]
  readonly broken: unknown[]
  readonly lost: number[]
  isOver: boolean
  isPaused: boolean
  /** The last change, and what is told to whoever has an earlier one. */
  change: number
  since: CanonicalUrl[] | null
}

function stand(dir = '/nowhere'): Stand {
  const engine = MemoryEngine.create({ operationMs: 1 }).client()
  const crew = new FakeCrew()
  const events: NodeEvent[] = []
  const broken: unknown[] = []
  const lost: number[] = []
  const parts: HostedSharesParts = {
    engine,
    crew: { dirOf: () => dir } as unknown as HostedSharesParts['crew'],
    ordersOf: () => {
      throw new Error('no thread is started')
    },
    planned: 1,
    isPaused: () => one.isPaused,
    onUnopenable: (change) => (one.change = change - 1),
    meant: {
      change: () => one.change,
      orders: () => ({ seeds: [], settings: {} as MeantOrders['settings'] }),
      since: () => one.since,
    },
    isFenced: () => false,
    isOver: () => one.isOver,
    onLost: (share) => lost.push(share),
    onBroken: (fault) => broken.push(fault),
    onEvent: (event) => events.push(event),
    crewOf: (plan, told) => {
      crew.plan = plan
      crew.events = told
      return crew
    },
  }
  const one: Stand = {
    crew,
    shares: new HostedShares(parts),
    engine,
    events,
    broken,
    lost,
    isOver: false,
    isPaused: false,
    change: 0,
    since: [],
  }
  return one
}

async function take({ shares }: Stand, share: number): Promise<{ epoch: number } | null> {
  return shares.take(share, await shares.standing(share), US)
}

async function standing({ engine }: Stand, share: number): Promise<{ holder: string | null; released: boolean }> {
  const { holder, released } = await (await ShareLog.open(engine, share)).standing()
  return { holder: holder?.node ?? null, released }
}

afterEach(() => {
  vi.useRealTimers()
})

test('a share whose agent broke off with turns lent is released when those are over', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-hosted-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  mkdirSync(join(dir, 'state'))
  const one = stand(dir)
  one.crew.opens = () => Promise.reject(new Error('no room for a thread'))
  await expect(take(one, 3)).rejects.toThrow('no room')
  markLent(dir)
  vi.useFakeTimers()
  let isReleased = false
  const given = one.shares.giveUp(3).then(() => (isReleased = true))
  await vi.advanceTimersByTimeAsync(RENEWAL_MS - 1)
  expect(isReleased).toBe(false)
  await vi.advanceTimersByTimeAsync(100)
  await given
  vi.useRealTimers()
  expect(await standing(one, 3)).toEqual({ holder: null, released: true })
})

test('a share that was begun and could not be opened is released when it is given up', async () => {
  const one = stand()
  one.crew.opens = () => Promise.reject(new Error('no room for a thread'))
  await expect(take(one, 3)).rejects.toThrow('no room')
  expect(await standing(one, 3)).toEqual({ holder: 'a', released: false })
  await one.shares.giveUp(3)
  expect(await standing(one, 3)).toEqual({ holder: null, released: true })
})

test.each(['not-done', 'done', 'done-later'] as const)(
  'a begin that was not answered (%s) leaves nothing in our name once the share is given up',
  async (how) => {
    const one = stand()
    const seen = await one.shares.standing(3)
    one.engine.failNext('append', how)
    await expect(one.shares.take(3, seen, US)).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
    await one.shares.giveUp(3)
    expect(await standing(one, 3)).toEqual({ holder: null, released: true })
  },
)

test('of a try that somebody else has begun over since, nothing is released', async () => {
  const one = stand()
  one.crew.opens = () => Promise.reject(new Error('no'))
  await expect(take(one, 3)).rejects.toThrow('no')
  const log = await ShareLog.open(one.engine, 3)
  await log.begin({ node: 'b', incarnation: 'two' }, await log.standing())
  await one.shares.giveUp(3)
  expect(await standing(one, 3)).toEqual({ holder: 'b', released: false })
})

test('a release whose answer was lost is found when the share is given up once more, and its figures are kept', async () => {
  const one = stand()
  one.isOver = true
  await take(one, 3)
  // The first append of giving up marks the log, the second releases.
  const log = await one.engine.log('share-3')
  const append = log.append.bind(log)
  let appends = 0
  log.append = async (bytes, after) => {
    if (++appends === 2) one.engine.failNext('append', 'done')
    return append(bytes, after)
  }
  const given = one.shares.giveUp(3)
  one.crew.says(3, { kind: 'drained', fault: null })
  await expect(given).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  await one.shares.giveUp(3)
  expect(one.shares.shares).toEqual([])
  expect(one.shares.statuses).toEqual([status])
  expect(one.shares.lastShares).toEqual([3])
})

test('a share that is silent keeps its figures, and goes on when the lease runs again', async () => {
  const one = stand()
  await take(one, 3)
  one.shares.silence()
  expect(one.crew.ended).toEqual([3])
  expect(one.shares.statuses).toEqual([status])
  one.shares.goOn()
  await vi.waitFor(() => expect(one.crew.told).toEqual(['3 run', '3 run']))
})

test('an agent that opens its share in a pause is told of it before it may run, and so is one that was started again', async () => {
  const one = stand()
  await take(one, 3)
  one.isPaused = true
  one.shares.steering.tellPause()
  await take(one, 4)
  one.crew.events?.onAgain(3, 'it broke', 5)
  one.isPaused = false
  one.shares.steering.tellPause()
  expect(one.crew.told).toEqual(['3 run', '3 pause', '4 pause', '4 run', '3 pause', '3 run', '3 resume', '4 resume'])
})

test('seeds are told to an agent that runs, and it has the change when it has answered', async () => {
  const one = stand()
  await take(one, 3)
  one.change = 2
  one.since = ['http://a.test/' as CanonicalUrl]
  one.shares.steering.catchUp()
  one.shares.steering.catchUp()
  expect(one.crew.told).toEqual(['3 run', '3 ask'])
  expect(one.shares.desk.changeOf(3)).toBe(0)
  one.crew.says(3, { kind: 'answer', number: 1, answer: null, fault: null })
  await vi.waitFor(() => expect(one.shares.desk.changeOf(3)).toBe(2))
})

test('an agent whose thread ended with a question is asked again, or has everything from its next start', async () => {
  const one = stand()
  await take(one, 3)
  one.change = 1
  one.since = ['http://a.test/' as CanonicalUrl]
  one.shares.steering.catchUp()
  one.crew.events?.onLost(3)
  expect(one.shares.desk.changeOf(3)).toBeNull()
  // It is started again, with what is meant then.
  one.crew.plan?.meantOf?.(3)
  one.crew.events?.onOpened(3, opened)
  one.crew.events?.onAgain(3, 'it broke', 1)
  expect(one.shares.desk.changeOf(3)).toBe(1)
  // A late answer of its former life changes nothing.
  one.crew.says(3, { kind: 'answer', number: 1, answer: null, fault: null })
  await new Promise(setImmediate)
  expect(one.shares.desk.changeOf(3)).toBe(1)
})

test('for anything else than seeds an agent is opened anew, once, and has the change then', async () => {
  const one = stand()
  await take(one, 3)
  one.change = 1
  one.since = null
  one.shares.steering.catchUp()
  one.shares.steering.catchUp()
  one.crew.says(3, { kind: 'drained', fault: null })
  await vi.waitFor(() => expect(one.shares.desk.changeOf(3)).toBe(1))
  expect(one.crew.told).toEqual(['3 run', '3 stop', '3 finish', '3 close', '3 run'])
})

test('where an agent cannot be opened anew with a change it is opened as it was before', async () => {
  vi.useFakeTimers()
  const one = stand()
  await take(one, 3)
  one.change = 1
  one.since = null
  one.crew.opens = () => Promise.reject(new Fault('CONFIG_INVALID', 'no such certificate'))
  one.shares.steering.catchUp()
  one.crew.says(3, { kind: 'drained', fault: null })
  await vi.advanceTimersByTimeAsync(10)
  expect(one.events).toMatchObject([{}, { kind: 'share-failed', why: 'no such certificate' }])
  expect(one.change).toBe(0)
  one.crew.opens = async () => opened
  await vi.advanceTimersByTimeAsync(5_000)
  expect(one.shares.desk.changeOf(3)).toBe(0)
  expect(one.crew.told.at(-1)).toBe('3 run')
})

test('a change that comes while a share is being opened is taken in when it is', async () => {
  const one = stand()
  let isOpen = (): void => {}
  const opening = new Promise<void>((resolve) => (isOpen = resolve))
  one.crew.opens = async () => {
    await opening
    return opened
  }
  const taken = take(one, 3)
  await new Promise(setImmediate)
  one.change = 1
  one.since = ['http://a.test/' as CanonicalUrl]
  one.shares.steering.catchUp()
  isOpen()
  await taken
  expect(one.shares.desk.changeOf(3)).toBe(0)
  expect(one.crew.told).toEqual(['3 run', '3 ask'])
})

test('a lease that ends while a share is being given up ends its thread at once', async () => {
  const one = stand()
  await take(one, 3)
  const given = one.shares.giveUp(3)
  await vi.waitFor(() => expect(one.crew.told).toContain('3 stop'))
  one.shares.silence()
  expect(one.crew.ended).toContain(3)
  await given
  expect(await standing(one, 3)).toEqual({ holder: null, released: true })
})

test('whoever asks how a share stands while it is given up is answered', async () => {
  const one = stand()
  await take(one, 3)
  const answer = one.shares.desk.answer({ chair: 1, orders: [] })
  const given = one.shares.giveUp(3)
  one.crew.says(3, { kind: 'drained', fault: null })
  await given
  expect(await answer).toEqual({ kind: 'shares', shares: [] })
})

test('a share that is lost is told of before its thread is gone: it may be taken again meanwhile', async () => {
  const one = stand()
  await take(one, 3)
  let isGone = (): void => {}
  one.crew.gone = new Promise((resolve) => (isGone = resolve))
  one.crew.says(3, { kind: 'drained', fault: { code: 'SHARE_LOST', message: 'b has it', stack: null } })
  await vi.waitFor(() => expect(one.lost).toEqual([3]))
  expect(one.shares.shares).toEqual([])
  await take(one, 3)
  isGone()
  await new Promise(setImmediate)
  expect(one.lost).toEqual([3])
  expect(one.shares.shares).toEqual([3])
})

test('an agent that could not be started again since the engine is away makes its share silent, and not the node broken', async () => {
  vi.useFakeTimers()
  const one = stand()
  await take(one, 3)
  one.crew.events?.onLeft(3, 'gone', new Fault('ENGINE_UNREACHABLE', 'away'))
  expect(one.broken).toEqual([])
  await vi.advanceTimersByTimeAsync(1_000)
  expect(one.crew.told).toEqual(['3 run', '3 run'])
})

test('more shares than there is memory for are told of, once', async () => {
  const one = stand()
  for (const share of [1, 2, 3]) await take(one, share)
  expect(one.events.filter(({ kind }) => kind === 'agent-warning')).toMatchObject([{ agent: 2 }])
})

test('a full disk while it runs is not waited for when the share is given up: it has stopped already', async () => {
  vi.useFakeTimers()
  const one = stand()
  await take(one, 3)
  one.crew.says(3, { kind: 'drained', fault: { code: 'DISK_FULL', message: 'no room', stack: null } })
  await vi.advanceTimersByTimeAsync(0)
  expect(one.broken).toMatchObject([{ code: 'DISK_FULL' }])
  const given = one.shares.giveUp(3)
  await vi.advanceTimersByTimeAsync(10)
  await given
  expect(one.crew.told).toEqual(['3 run', '3 stop', '3 finish', '3 close'])
})

test('a share that can be opened nowhere drives no node away, one for which there is no room on the disk does', async () => {
  const one = stand()
  one.crew.opens = () => Promise.reject(new Fault('LEDGER_CORRUPT', 'a hole'))
  await expect(take(one, 3)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  expect(one.broken).toEqual([])
  expect(one.events).toMatchObject([{ kind: 'share-failed', share: 3 }])
  one.crew.opens = () => Promise.reject(new Fault('DISK_FULL', 'no room'))
  await expect(take(one, 3)).rejects.toMatchObject({ code: 'DISK_FULL' })
  expect(one.broken).toMatchObject([{ code: 'DISK_FULL' }])
})
