// One byte changed in any file of the store, or a file missing: what follows is the whole crawl or a fault, never a crawl
// with a hole. The whole crawl means every URL once, in order, after the journal has told what came after the checkpoint
// found; a journal that does not reach back so far refuses as well.

import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fault, ManualClock, Random } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import { DiskFrontier, type DiskFrontierSettings } from './disk-frontier.ts'
import type { FrontierEntry } from './frontier.ts'
import { salvageFrontier } from './salvage.ts'

const HOSTS = 300
const BATCHES = 6
const URLS_PER_BATCH = 1_500
/** Batches before this one are not in the journal any more. */
const JOURNAL_FROM = 4
const FLIPS_PER_FILE = 8
const SALVAGES_PER_TABLE = 5

const clock = new ManualClock()
const settings: DiskFrontierSettings = {
  clock,
  delayMs: 1,
  ipDelayMs: 0,
  ipConnections: 100,
  bands: 3,
  memoryBytes: 100_000,
  // As ever, but for a code that is made of few URLs: it can be damaged too.
  tuning: {
    headEntries: 64,
    readAhead: 20,
    blockEntriesMin: 64,
    hostsMin: 64,
    hostsCalledMin: 64,
    addendaMax: 4,
    codeEntriesMin: 1_000,
  },
}

let root = ''
const batches: FrontierEntry[][] = []

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'portolan-damage-'))
  const random = new Random('damage')
  for (let batch = 0; batch < BATCHES; batch++) {
    batches.push(
      Array.from({ length: URLS_PER_BATCH }, (_, i) => {
        const host = `host-${Math.floor(HOSTS ** random.fraction())}.example` as HostKey
        return {
          url: `https://${host}/${random.next32().toString(36)}/${random.next32().toString(36)}/${batch}-${i}` as CanonicalUrl,
          host,
          via: `https://${host}/` as CanonicalUrl,
          depth: 1,
          hops: 0,
          band: random.below(3),
          isSeed: false,
          tries: 0,
          pauses: 0,
        }
      }),
    )
  }
  const live = join(root, 'live')
  const frontier = await DiskFrontier.open({ ...settings, directory: live })
  await frontier.endReplay()
  for (const [i, entries] of batches.entries()) {
    for (const entry of entries) frontier.offer(entry)
    // The last batch is in the journal only.
    if (i + 1 === BATCHES) break
    frontier.seal(i + 1)
    frontier.committed(i + 1)
    await frontier.written()
    await frontier.idle()
  }
  const goOn = await frontier.pauseWrites()
  await cp(live, join(root, 'whole'), { recursive: true, filter: (path) => !path.endsWith('LOCK') })
  goOn()
  await frontier.close()
  // Opened once more and closed: all tables, no log to speak of.
  await cp(live, join(root, 'tables'), { recursive: true })
  const again = await DiskFrontier.open({ ...settings, directory: join(root, 'tables') })
  await again.close()
})

afterAll(async () => {
  await rm(root, { recursive: true, force: true })
})

const linesOf = (entries: Iterable<FrontierEntry>): string[] => {
  const lines = new Map<string, string[]>()
  for (const { host, band, url } of entries) {
    const name = `${host} ${band}`
    const line = lines.get(name) ?? []
    line.push(url)
    lines.set(name, line)
  }
  return [...lines].map(([name, urls]) => `${name} ${urls.join(' ')}`).sort()
}

/** Opens, replays, and takes everything out. */
async function crawl(directory: string): Promise<'whole' | 'refused'> {
  let frontier: DiskFrontier | null = null
  try {
    frontier = await DiskFrontier.open({ ...settings, directory })
    if (frontier.replayFrom + 1 < JOURNAL_FROM) return 'refused'
    for (const entry of batches.slice(frontier.replayFrom).flat()) frontier.offer(entry)
    await frontier.endReplay()
    const taken: FrontierEntry[] = []
    let batch = BATCHES
    while (frontier.figures().waiting > 0) {
      const turn = frontier.take()
      if (turn === null) {
        await frontier.idle()
        if (frontier.wantsSeal()) {
          frontier.seal(++batch)
          frontier.committed(batch)
          await frontier.written()
        }
        clock.advance(1)
        continue
      }
      taken.push(...turn.entries)
      for (const entry of turn.entries) frontier.conclude(entry, true)
      frontier.settle(turn, { restMs: 0 })
    }
    expect(taken.length).toBe(BATCHES * URLS_PER_BATCH)
    expect(linesOf(taken)).toEqual(linesOf(batches.flat()))
    return 'whole'
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    expect(fault.code).toBe('LEDGER_CORRUPT')
    expect(fault.message).toContain(directory)
    return 'refused'
  } finally {
    await frontier?.close().catch(() => undefined)
  }
}

async function damaged(from: string, name: string, damage: (path: string) => Promise<void>): Promise<string> {
  const directory = await mkdtemp(join(root, 'damaged-'))
  await cp(join(root, from), directory, { recursive: true })
  await damage(join(directory, name))
  const outcome = await crawl(directory)
  await rm(directory, { recursive: true })
  return outcome
}

test('undamaged it is whole', async () => {
  for (const from of ['whole', 'tables']) expect(await damaged(from, '', async () => undefined)).toBe('whole')
})

for (const from of ['whole', 'tables']) {
  test(`one byte changed in any file never makes a hole (${from})`, async () => {
    const random = new Random(`flips ${from}`)
    const outcomes: Record<string, number> = {}
    for (const name of await readdir(join(root, from))) {
      if (['LOCK', 'LOG', 'LOG.old', 'made'].includes(name)) continue
      for (let i = 0; i < FLIPS_PER_FILE; i++) {
        const outcome = await damaged(from, name, async (path) => {
          const bytes = await readFile(path)
          const at = random.below(bytes.length)
          bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
          await writeFile(path, bytes)
        })
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      }
    }
    // Some damage is where nothing is read any more; most is seen.
    expect(outcomes['refused']).toBeGreaterThan(0)
  }, 600_000)

  test(`a missing file never makes a hole (${from})`, async () => {
    for (const name of await readdir(join(root, from))) {
      if (['LOCK', 'LOG', 'LOG.old'].includes(name)) continue
      await damaged(from, name, (path) => rm(path))
    }
  })
}

test('what is salvaged was waiting, and no more is lost than is said', async () => {
  const random = new Random('salvage')
  const tables = (await readdir(join(root, 'tables'))).filter((name) => name.endsWith('.ldb'))
  const said = { bound: 0, lost: 0 }
  for (const name of tables) {
    for (let i = 0; i < SALVAGES_PER_TABLE; i++) {
      const directory = await mkdtemp(join(root, 'salvaged-'))
      await cp(join(root, 'tables'), directory, { recursive: true })
      const bytes = await readFile(join(directory, name))
      const at = random.below(bytes.length)
      bytes[at] = (bytes[at] as number) ^ (1 << random.below(8))
      await writeFile(join(directory, name), bytes)
      const shown: string[] = []
      const { batch, found, expected, certain, damage } = await salvageFrontier(
        directory,
        ({ url }) => void shown.push(url),
      )
      await rm(directory, { recursive: true })
      expect(damage[0]).toContain(name)
      expect(found).toBe(shown.length)
      expect(new Set(shown).size).toBe(shown.length)
      const known = new Set<string>(batches.flat().map(({ url }) => url))
      expect(shown.filter((url) => !known.has(url))).toEqual([])
      if (expected === null || batch === null) continue
      said.bound++
      const waiting = new Set<string>(batches.slice(0, batch).flatMap((entries) => entries.map(({ url }) => url)))
      for (const url of shown) waiting.delete(url)
      if (waiting.size > 0) said.lost++
      expect(waiting.size, `${name} flipped at ${at}`).toBeLessThanOrEqual(expected - certain)
    }
  }
  expect(said.bound).toBeGreaterThan(0)
  expect(said.lost).toBeGreaterThan(0)
})
