// The seen set on disk with a journal beside it, as an agent uses both, and the power cut at every moment: opened from the
// last state that the journal holds, and told what the journal noted since, the set knows exactly the URLs that
// the journal has noted. One fewer would be asked twice; one more would be known and waited for by nobody.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { Random } from '../../src/base/index.ts'
import { DiskUrlSeen, newBatch, type SeenState } from '../../src/url-seen/index.ts'
import { SimulatedDisk } from './simulated-disk.ts'

vi.mock('node:fs', async (original) => (await import('./recorded-fs.ts')).recordedFs(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./recorded-fs.ts')).recordedFsPromises(await original()))

/** Generations of 96 URLs. */
const MEMORY_BYTES = 8 * 1024

const parent = mkdtempSync(join(tmpdir(), 'portolan-seen-cuts-'))
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(parent, 'disk-'))
})
afterAll(() => rmSync(parent, { recursive: true }))

const highOf = (url: number): number => Math.imul(url % 7, 0x9e3779b1) >>> 0
const lowOf = (url: number): number => Math.imul(url, 0x85ebca6b) >>> 0
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** Meets URLs; those that are new. */
async function meet(seen: DiskUrlSeen, urls: readonly number[]): Promise<number[]> {
  const batch = newBatch(urls.length)
  for (const [i, url] of urls.entries()) {
    batch.high[i] = highOf(url)
    batch.low[i] = lowOf(url)
  }
  batch.count = urls.length
  // As callers do: what is there at once is not waited for.
  const answer = seen.meet(batch)
  if (answer !== undefined) await answer
  return urls.filter((_, i) => batch.isNew[i] === 1)
}

interface Commit {
  /** When it was durable, as the disk counts. */
  readonly at: number
  /** How many batches the journal holds. */
  readonly batches: number
  readonly state: SeenState | null
}

/** A journal that loses nothing it has promised, and the agent that writes it. */
class Agent {
  readonly #disk: SimulatedDisk
  readonly seen: DiskUrlSeen
  /** New URLs by batch; the last is still open. */
  readonly batches: number[][] = [[]]
  readonly commits: Commit[] = [{ at: 0, batches: 0, state: null }]

  constructor(disk: SimulatedDisk, seen: DiskUrlSeen) {
    this.#disk = disk
    this.seen = seen
  }

  /** A page with its links: what is new is noted as soon as the answer is there. */
  async page(links: readonly number[]): Promise<void> {
    const found = await meet(this.seen, links)
    this.batches.at(-1)?.push(...found)
  }

  async commit(turns: number): Promise<void> {
    const batches = this.batches.length
    const state = JSON.parse(JSON.stringify(this.seen.state())) as SeenState
    this.batches.push([])
    this.seen.mark(batches)
    // The journal takes its time; pages go on meanwhile.
    for (let i = 0; i < turns; i++) await turn()
    this.commits.push({ at: this.#disk.now, batches, state })
    this.seen.committed(state)
  }

  /** Commits whenever there is another state, most of all while pages are half answered. */
  async commitEveryStateUntil(pages: Promise<unknown>): Promise<void> {
    const waiting = { isOver: false }
    const over = pages.finally(() => (waiting.isOver = true))
    for (let last: SeenState | null = null; !waiting.isOver; await turn()) {
      if (this.seen.state() === last) continue
      last = this.seen.state()
      await this.commit(0)
    }
    await over
  }

  /** What a set opened after a cut must be told, and must know then. */
  after(at: number): { state: SeenState | null; replay: number[]; known: Set<number> } {
    const { batches, state } = this.commits.findLast((one) => one.at <= at) as Commit
    return {
      state,
      replay: this.batches.slice(state?.replayFrom ?? 0, batches).flat(),
      known: new Set(this.batches.slice(0, batches).flat()),
    }
  }
}

async function crawl(seed: string, pages: number, linksMax: number): Promise<{ disk: SimulatedDisk; agent: Agent }> {
  const random = new Random(seed)
  const disk = SimulatedDisk.watch(directory)
  const agent = new Agent(disk, await DiskUrlSeen.open({ directory, memoryBytes: MEMORY_BYTES, state: null }))
  let urls = 0
  const link = (): number => (urls === 0 || random.below(2) === 0 ? urls++ : random.below(urls))
  let underWay: Promise<void>[] = []
  for (let i = 0; i < pages; i++) {
    underWay.push(agent.page(Array.from({ length: random.below(linksMax) }, link)))
    if (random.below(2) === 0) await agent.commit(random.below(3))
    if (i < pages - 1 && random.below(3) === 0) continue
    await agent.commitEveryStateUntil(Promise.all(underWay))
    underWay = []
  }
  // What was held back while pages were half answered is named now.
  await turn()
  await agent.commit(1)
  await agent.seen.compact()
  await agent.commit(0)
  await agent.seen.close()
  disk.stop()
  return { disk, agent }
}

function knownBy(seen: DiskUrlSeen): string[] {
  const found: string[] = []
  seen.visit((high, low) => void found.push(`${high}:${low}`))
  return found.toSorted()
}

const listed = (urls: Iterable<number>): string[] =>
  Array.from(urls, (url) => `${highOf(url)}:${lowOf(url)}`).toSorted()

describe('after a cut at any moment the set knows what the journal has noted, and nothing else', () => {
  test.for([
    ['pages of some links', 50, 40],
    ['pages of more links than the set holds in memory', 4, 500],
  ] as const)('%s', async ([name, pages, linksMax]) => {
    const { disk, agent } = await crawl(name, pages, linksMax)
    const urls = agent.batches.flat()
    expect(agent.commits.at(-1)?.state?.runsMade).toBeGreaterThan(4)
    await disk.afterEachCut(name, 1, async (copy, { at }) => {
      const { state, replay, known } = agent.after(at)
      const again = await DiskUrlSeen.open({ directory: copy, memoryBytes: MEMORY_BYTES, state })
      for (const url of replay) again.restore(highOf(url), lowOf(url), 1)
      expect(again.size).toBe(known.size)
      expect(knownBy(again)).toEqual(listed(known))
      expect(await meet(again, urls)).toEqual(urls.filter((url) => !known.has(url)))
      await again.close()
    })
  })
})

describe('a disk that refuses', () => {
  /** Pages one after the other, a commit after every third, until a fault or the end; the fault. */
  async function crawlUntilFault(agent: Agent): Promise<unknown> {
    try {
      for (let page = 0; page < 40; page++) {
        // Half of the links are those of the page before.
        await agent.page(Array.from({ length: 30 }, (_, i) => 15 * page + i))
        await turn()
        if (page % 3 === 2) await agent.commit(1)
      }
      await agent.seen.compact()
    } catch (cause) {
      return cause
    }
    return null
  }

  test.for([
    ['ENOSPC', 'DISK_FULL'],
    ['EIO', 'DISK_FAILED'],
  ] as const)(
    '%s, whenever it begins, is a fault that stays, and what was committed goes on',
    async ([errno, code]) => {
      let faults = 0
      for (let first = 1; faults === first - 1; first++) {
        const folder = mkdtempSync(join(parent, 'refusing-'))
        const disk = SimulatedDisk.watch(folder)
        const open = { directory: folder, memoryBytes: MEMORY_BYTES }
        const agent = new Agent(disk, await DiskUrlSeen.open({ ...open, state: null }))
        let asked = 0
        disk.refuse = (operation) => (operation !== 'remove' && ++asked >= first ? errno : null)
        const fault = await crawlUntilFault(agent)
        if (fault !== null) {
          faults++
          expect(fault).toMatchObject({ code })
          await expect(meet(agent.seen, [1])).rejects.toBe(fault)
          await expect(agent.seen.flush()).rejects.toBe(fault)
        }
        await agent.seen.close()
        disk.refuse = () => null
        // Room was made.
        const { state, replay, known } = agent.after(disk.now)
        const again = await DiskUrlSeen.open({ ...open, state })
        for (const url of replay) again.restore(highOf(url), lowOf(url), 1)
        expect(knownBy(again)).toEqual(listed(known))
        await again.flush()
        await again.close()
        disk.stop()
      }
      // Every kind of operation was refused, in writing, in syncing and in merging.
      expect(faults).toBeGreaterThan(20)
    },
  )
})

describe('a byte changed anywhere in a run', () => {
  const URLS = 300

  async function writtenRun(): Promise<{ path: string; whole: Buffer; state: SeenState }> {
    const seen = await DiskUrlSeen.open({ directory, memoryBytes: MEMORY_BYTES, state: null })
    await meet(
      seen,
      Array.from({ length: URLS }, (_, i) => i),
    )
    await seen.compact()
    const state = seen.state()
    await seen.close()
    const path = join(directory, state.runs[0]?.name ?? '')
    return { path, whole: readFileSync(path), state }
  }

  function flipped(whole: Buffer, at: number, random: Random): Buffer {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
    return bytes
  }

  test('is refused when the set is opened', async () => {
    const { path, whole, state } = await writtenRun()
    const random = new Random('flips')
    expect(whole.length).toBe(3 * 1024)
    for (let at = 0; at < whole.length; at++) {
      writeFileSync(path, flipped(whole, at, random))
      const opened = DiskUrlSeen.open({ directory, memoryBytes: MEMORY_BYTES, state })
      await expect(opened, `byte ${at}`).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    }
  })

  test('under a set that is open never makes it answer wrongly', async () => {
    const { path, whole, state } = await writtenRun()
    const random = new Random('flips below')
    for (let at = 0; at < whole.length; at += 1 + random.below(40)) {
      writeFileSync(path, whole)
      const seen = await DiskUrlSeen.open({ directory, memoryBytes: MEMORY_BYTES, state })
      writeFileSync(path, flipped(whole, at, random))
      let refused = 0
      for (let url = 0; url < 2 * URLS; url++) {
        try {
          expect(seen.meetings(highOf(url), lowOf(url)), `byte ${at}, URL ${url}`).toBe(url < URLS ? 1 : 0)
        } catch (cause) {
          expect(cause, `byte ${at}, URL ${url}`).toMatchObject({ code: 'LEDGER_CORRUPT' })
          refused++
        }
      }
      expect(refused).toBeGreaterThan(0)
      await seen.close()
    }
  })
})
