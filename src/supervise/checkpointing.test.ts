// Whatever agents do while a copy is made: it is made, or it is said why not; nobody stays held, nothing half is left.

import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { Random, systemClock } from '../base/index.ts'
import { SegmentedJournal } from '../ledger/index.ts'
import { writeLayout } from '../view/index.ts'
import type { ToAgent } from './agent-messages.ts'
import { Checkpointing } from './checkpointing.ts'

const NAMES = ['state/agents/0', 'state/agents/1', 'state/agents/2']
const COUNTS = { linkedFiles: 1, copiedFiles: 2, copiedBytes: 3 }

/** Agents that only note what they are told; a test answers for them. */
class Stand {
  readonly told: { readonly agent: number; readonly message: ToAgent }[] = []
  readonly held = new Set<number>()
  readonly dead = new Set<number>()
  /** Those that hold as soon as they are told. */
  readonly quick = new Set<number>()
  readonly checkpoints: Checkpointing

  constructor(dir: string, holdWithinMs = 60_000) {
    this.checkpoints = new Checkpointing({
      dir,
      names: NAMES,
      clock: systemClock,
      holdWithinMs,
      isDead: (agent) => this.dead.has(agent),
      tell: (agent, message) => {
        this.told.push({ agent, message })
        if (message.kind === 'release') this.held.delete(agent)
        if (message.kind !== 'hold' || !this.quick.has(agent)) return
        this.held.add(agent)
        this.checkpoints.hear(agent, { kind: 'held', attempt: message.attempt, fault: null })
      },
    })
  }

  /** The last thing an agent was told, which is of this kind. */
  async isTold<K extends ToAgent['kind']>(agent: number, kind: K): Promise<Extract<ToAgent, { kind: K }>> {
    return await expect
      .poll(() => this.told.findLast((one) => one.agent === agent)?.message, { timeout: 120_000 })
      .toMatchObject({ kind })
      .then(() => this.told.findLast((one) => one.agent === agent)?.message as Extract<ToAgent, { kind: K }>)
  }

  async hold(agent: number): Promise<void> {
    const { attempt } = await this.isTold(agent, 'hold')
    this.held.add(agent)
    this.checkpoints.hear(agent, { kind: 'held', attempt, fault: null })
  }

  async copy(agent: number): Promise<void> {
    const { attempt, to } = await this.isTold(agent, 'copy')
    // Nobody is told to copy, and so to go on, before all hold.
    expect(this.held.has(agent)).toBe(true)
    const journal = await SegmentedJournal.open({
      directory: join(to, 'state/journal'),
      random: new Random('copy'),
      create: () => ({ name: 'copy', key: '00', startedAtMs: 0 }),
    })
    await journal.close()
    this.held.delete(agent)
    this.checkpoints.hear(agent, { kind: 'copied', attempt, figures: { to, ...COUNTS, heldMs: 7 }, fault: null })
  }

  async makeAll(): Promise<void> {
    for (const agent of NAMES.keys()) await this.hold(agent)
    for (const agent of NAMES.keys()) await this.copy(agent)
  }
}

let dir = ''
let to = ''
beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'portolan-checkpointing-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  dir = join(folder, 'crawl')
  to = join(folder, 'copy')
  await mkdir(join(dir, 'state'), { recursive: true })
  await writeLayout(dir, NAMES)
  await writeFile(join(dir, 'state/settings.json'), '{}')
})

/** What became of it, without a rejection that nobody has heard of yet. */
function outcome(making: Promise<unknown>): Promise<string> {
  return making.then(
    () => 'made',
    (fault: Error) => fault.message,
  )
}

test('nobody copies before all hold; the copy bears its name when all is there', async () => {
  const stand = new Stand(dir)
  const making = stand.checkpoints.make(to)
  await stand.hold(0)
  await stand.hold(2)
  expect(stand.told.filter(({ message }) => message.kind === 'copy')).toEqual([])
  await stand.hold(1)
  await stand.copy(2)
  await stand.copy(1)
  expect(existsSync(to)).toBe(false)
  await stand.copy(0)
  const figures = await making
  // Three agents, and two files of nobody's: the layout and the settings.
  expect(figures).toMatchObject({ to, linkedFiles: 3, copiedFiles: 8 })
  expect(figures.heldMs).toBeGreaterThanOrEqual(7)
  for (const name of [
    ...NAMES.map((one) => `${one}/state/journal`),
    'state/layout.json',
    'state/settings.json',
    'pages.jsonl',
  ])
    expect(existsSync(join(to, name)), name).toBe(true)
  expect(existsSync(`${to}.partial`)).toBe(false)
})

describe('ends the copy, lets the others go, and leaves nothing', () => {
  async function expectNothingLeft(stand: Stand): Promise<void> {
    expect(stand.held).toEqual(new Set())
    expect(existsSync(to)).toBe(false)
    expect(existsSync(`${to}.partial`)).toBe(false)
    // The next one works.
    stand.dead.clear()
    const making = outcome(stand.checkpoints.make(to))
    await stand.makeAll()
    expect(await making).toBe('made')
  }

  test('an agent that says it cannot hold', async () => {
    const stand = new Stand(dir)
    const made = outcome(stand.checkpoints.make(to))
    await stand.hold(0)
    const { attempt } = await stand.isTold(1, 'hold')
    const fault = { code: 'DISK_FULL', message: 'no room', stack: null } as const
    stand.checkpoints.hear(1, { kind: 'held', attempt, fault })
    expect(await made).toBe('no room')
    await expectNothingLeft(stand)
  })

  test('an agent that dies before it holds, or after', async () => {
    for (const holds of [false, true]) {
      const stand = new Stand(dir)
      const made = outcome(stand.checkpoints.make(to))
      await stand.hold(0)
      if (holds) await stand.hold(1)
      stand.held.delete(1)
      stand.checkpoints.lost(1)
      expect(await made).toBe('agent 1 broke while the copy was made; ask again')
      await expectNothingLeft(stand)
      await rm(to, { recursive: true })
    }
  })

  test('an agent that is dead already', async () => {
    const stand = new Stand(dir)
    stand.dead.add(2)
    expect(await outcome(stand.checkpoints.make(to))).toBe('agent 2 broke while the copy was made; ask again')
    await expectNothingLeft(stand)
  })

  test('an agent that does not hold in time; what it says too late is not taken for the next time', async () => {
    const stand = new Stand(dir, 50)
    for (const agent of [0, 2]) stand.quick.add(agent)
    expect(await outcome(stand.checkpoints.make(to))).toBe('agent 1 did not hold still within 0.05 s; ask again')
    expect(stand.held).toEqual(new Set())
    const first = stand.told[0]?.message as Extract<ToAgent, { kind: 'hold' }>
    const again = outcome(stand.checkpoints.make(to))
    stand.checkpoints.hear(1, { kind: 'held', attempt: first.attempt, fault: null })
    expect(await again).toMatch(/did not hold still/)
    expect(stand.held).toEqual(new Set())
    expect(existsSync(`${to}.partial`)).toBe(false)
  })

  test('an agent that dies while it copies: the others are waited for, for they write there', async () => {
    const stand = new Stand(dir)
    const made = outcome(stand.checkpoints.make(to))
    for (const agent of NAMES.keys()) await stand.hold(agent)
    await stand.copy(0)
    await stand.isTold(1, 'copy')
    stand.held.delete(1)
    stand.checkpoints.lost(1)
    expect(existsSync(`${to}.partial`)).toBe(true)
    await stand.copy(2)
    expect(await made).toBe('agent 1 broke while the copy was made; ask again')
    await expectNothingLeft(stand)
  })
})

test('one that has copied its share and dies then is no loss', async () => {
  const stand = new Stand(dir)
  const made = outcome(stand.checkpoints.make(to))
  for (const agent of NAMES.keys()) await stand.hold(agent)
  await stand.copy(0)
  stand.checkpoints.lost(0)
  await stand.copy(1)
  await stand.copy(2)
  expect(await made).toBe('made')
})

test('two at once are made one after the other, and whoever waits for the end waits for both', async () => {
  const stand = new Stand(dir)
  const ends: string[] = []
  const first = outcome(stand.checkpoints.make(to)).then((said) => ends.push(said))
  const second = outcome(stand.checkpoints.make(`${to}-2`)).then((said) => ends.push(said))
  const idle = stand.checkpoints.idle().then(() => ends.push('idle'))
  await stand.makeAll()
  await stand.makeAll()
  await Promise.all([first, second, idle])
  expect(ends.slice(0, 2)).toEqual(['made', 'made'])
})

test('a target that exists is refused before anybody is held', async () => {
  await mkdir(to)
  const stand = new Stand(dir)
  expect(await outcome(stand.checkpoints.make(to))).toMatch(/exists already/)
  expect(stand.told).toEqual([])
})
