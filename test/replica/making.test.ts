// What becomes of a directory when its share is taken up again, and of a snapshot that does not come about.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { Random } from '../../src/base/index.ts'
import { type MemoryClient, MemoryEngine } from '../../src/engine/index.ts'
import { type Attempt, expectSame, imageOf, imageOfTwin, Machine } from './simulated-share.ts'

class Stand {
  readonly engine = MemoryEngine.create({ operationMs: 5 })
  readonly root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'portolan-test-'))
  readonly random = new Random('making')
  readonly attempts: Attempt[] = []
  #lives = 0

  constructor() {
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }))
  }

  dir(node: string): string {
    return join(this.root, node)
  }

  open(node: string, client: MemoryClient = this.engine.client()): Promise<Machine> {
    return Machine.open(client, node, `life-${++this.#lives}`, this.dir(node), this.random, (attempt) => {
      this.attempts.length = attempt.number - 1
      this.attempts.push(attempt)
    })
  }

  async expectTruth(node: string): Promise<void> {
    expectSame(await imageOf(this.dir(node), this.random), await imageOfTwin(this.root, this.attempts, this.random))
  }
}

async function workOn(machine: Machine, batches: number): Promise<void> {
  for (let i = 0; i < batches; i++) await machine.work()
}

test('a directory with another past is set aside, whole, and the share is made from its log', async () => {
  const stand = new Stand()
  const a = await stand.open('a')
  await workOn(a, 5)
  await a.die()
  // The engine loses two batches of it, and another writes others in their place.
  stand.engine.forgetTail('share-0', 2)
  const b = await stand.open('b')
  expect(b.last).toBe(3)
  await workOn(b, 4)
  await b.leave()
  const journal = readFileSync(join(stand.dir('a'), 'state/journal/batches-0000000001.log'))
  const again = await stand.open('a')
  expect(again.replica.made).toMatchObject({ from: 'log', aside: { dir: `${stand.dir('a')}.aside-1` } })
  expect(readFileSync(`${stand.dir('a')}.aside-1/state/journal/batches-0000000001.log`).equals(journal)).toBe(true)
  await again.work()
  await again.leave()
  await stand.expectTruth('a')
})

test('so is one whose journal is damaged, and the share is made from its snapshot', async () => {
  const stand = new Stand()
  const a = await stand.open('a')
  await workOn(a, 3)
  await a.snapshot()
  await workOn(a, 3)
  await a.leave()
  const path = join(stand.dir('a'), 'state/journal/batches-0000000001.log')
  const bytes = readFileSync(path)
  bytes.fill(7, 60, 90)
  writeFileSync(path, bytes)
  const again = await stand.open('a')
  expect(again.replica.made).toMatchObject({ from: 'snapshot', aside: { dir: `${stand.dir('a')}.aside-1` } })
  await again.leave()
  await stand.expectTruth('a')
})

test('one that is older than the log goes back is made anew; one that is not is only told what it lacks', async () => {
  const stand = new Stand()
  const a = await stand.open('a')
  await workOn(a, 2)
  await a.leave()
  const b = await stand.open('b')
  await workOn(b, 2)
  await b.leave()
  const c = await stand.open('c')
  for (let i = 0; i < 3; i++) {
    await workOn(c, 2)
    await c.snapshot()
  }
  await c.leave()
  const old = await stand.open('a')
  expect(old.replica.made).toMatchObject({ from: 'snapshot', aside: { why: expect.stringContaining('comes after') } })
  await old.work()
  await old.leave()
  const back = await stand.open('c')
  expect(back.replica.made).toMatchObject({ from: 'log', aside: null })
  await back.leave()
  await stand.expectTruth('c')
})

test('killed between the log and its own journal, an owner finds its batch in the log', async () => {
  const stand = new Stand()
  const client = stand.engine.client()
  const a = await stand.open('a', client)
  await workOn(a, 2)
  // Acknowledged too late for whoever waited for it.
  client.failNext('append', 'done')
  const last = a.last
  const fenced = a.workUntilFenced()
  await expect(fenced).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
  await a.die()
  const again = await stand.open('a')
  expect(again.replica.made).toMatchObject({ from: 'log', added: 1, aside: null })
  expect(again.last).toBe(last + 1)
  await again.leave()
  await stand.expectTruth('a')
})

test('a snapshot has what the one before has not, and leaves nothing behind that nobody needs', async () => {
  const stand = new Stand()
  const client = stand.engine.client()
  const a = await stand.open('a', client)
  await workOn(a, 10)
  const first = await a.snapshot()
  await workOn(a, 1)
  const second = await a.snapshot()
  expect(second?.bytesPut).toBeLessThan(second?.bytes ?? 0)
  expect(first?.deleted).toBe(0)
  const log = await client.log('share-0')
  await workOn(a, 1)
  const third = await a.snapshot()
  // The first is gone, but for what the others have of it; and so is the log before the second.
  expect(third?.deleted).toBeGreaterThan(0)
  expect(await log.first()).toBeGreaterThan(10)

  // Half-way through, the engine is away: what was there before counts, what was put goes with the next.
  const before = (await client.objects.list('share-0.')).length
  await a.work()
  const put = client.objects.put.bind(client.objects)
  let puts = 0
  client.objects.put = async (name, bytes) => {
    if (++puts === 3) throw new Error('the line is dead')
    return put(name, bytes)
  }
  await expect(a.snapshot()).rejects.toThrow('the line is dead')
  client.objects.put = put
  expect(readdirSync(stand.root)).toEqual(['a'])
  expect((await client.objects.list('share-0.')).length).toBe(before + 2)
  await a.die()
  const b = await stand.open('b')
  expect(b.replica.made.from).toBe('snapshot')
  await b.work()
  const fourth = await b.snapshot()
  expect(fourth?.deleted).toBeGreaterThanOrEqual(2)
  await b.leave()
  await stand.expectTruth('b')
})
