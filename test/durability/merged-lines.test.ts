// The merged lines of several sources against a disk that loses and tears whatever was not synced, cut at every moment, and
// against one that refuses: after the next advance every committed line is there once, and what was there stayed meanwhile.

import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect, test, vi } from 'vitest'
import { type CommittedLengths, MergedLines } from '../../src/view/index.ts'
import { type Operation, SimulatedDisk } from './simulated-disk.ts'

vi.mock('node:fs', async (original) => (await import('./recorded-fs.ts')).recordedFs(await original()))
vi.mock('node:fs/promises', async (original) => (await import('./recorded-fs.ts')).recordedFsPromises(await original()))

const parent = mkdtempSync(join(tmpdir(), 'portolan-durable-view-'))
/** Where the merged file and its cursor lie; the sources lie elsewhere and are what their agents have committed. */
let directory: string
let shares: string
beforeEach(() => {
  directory = newDisk()
  shares = mkdtempSync(join(parent, 'shares-'))
})
afterAll(() => rmSync(parent, { recursive: true }))

/** With the cursor in a directory of its own: a disk may keep what was done to one and lose what was done to the other. */
function newDisk(): string {
  const made = mkdtempSync(join(parent, 'disk-'))
  mkdirSync(join(made, 'state'))
  return made
}

/** What every source has after each step: written on, taken back, cut back. Lines of several sectors among them. */
const STORY: readonly (readonly { readonly edition: number; readonly lines: readonly string[] }[])[] = [
  [
    { edition: 0, lines: [] },
    { edition: 0, lines: [] },
  ],
  [
    { edition: 0, lines: made('a', 1, 4) },
    { edition: 0, lines: made('b', 1, 2) },
  ],
  [
    { edition: 0, lines: made('a', 1, 9) },
    { edition: 0, lines: made('b', 1, 2) },
  ],
  [
    { edition: 0, lines: made('a', 1, 10) },
    { edition: 0, lines: made('b', 1, 8) },
  ],
  [
    { edition: 1, lines: made('a', 3, 9) },
    { edition: 0, lines: made('b', 1, 8) },
  ],
  [
    { edition: 1, lines: made('a', 3, 12) },
    { edition: 0, lines: made('b', 1, 9) },
  ],
  [
    { edition: 1, lines: made('a', 3, 14) },
    { edition: 0, lines: made('b', 1, 4) },
  ],
  [
    { edition: 1, lines: made('a', 3, 15) },
    { edition: 0, lines: made('b', 1, 11) },
  ],
]

function made(name: string, from: number, to: number): string[] {
  return Array.from({ length: to - from + 1 }, (_, i) => `${name}${from + i} ${'.'.repeat(((from + i) * 331) % 1_900)}`)
}

function writeStory(): void {
  for (const [step, sources] of STORY.entries()) {
    mkdirSync(join(shares, `${step}`))
    for (const [i, { lines }] of sources.entries()) {
      writeFileSync(join(shares, `${step}`, `${i}`), lines.map((line) => `${line}\n`).join(''))
    }
  }
}

function open(into: string, step: number): Promise<MergedLines> {
  const sources = [0, 1].map((i) => ({ name: `${i}`, path: join(shares, `${step}`, `${i}`) }))
  return MergedLines.open({ path: join(into, 'merged'), cursorPath: join(into, 'state/cursor'), sources })
}

function statesAt(step: number): CommittedLengths {
  return Object.fromEntries(
    (STORY[step] ?? []).map(({ edition, lines }, i) => [
      `${i}`,
      { edition, length: lines.reduce((sum, line) => sum + line.length + 1, 0) },
    ]),
  )
}

function linesAt(step: number): string[] {
  return (STORY[step] ?? []).flatMap(({ lines }) => lines).toSorted()
}

async function linesIn(into: string): Promise<string[]> {
  const text = await readFile(join(into, 'merged'), 'utf8')
  expect(text === '' || text.endsWith('\n')).toBe(true)
  return text.split('\n').slice(0, -1).toSorted()
}

test(
  'after any cut the next advance has every line once; what was promised is found at once',
  { timeout: 300_000 },
  async () => {
    writeStory()
    // The agents go on writing under the same names.
    const live = join(shares, 'live')
    cpSync(join(shares, '0'), live, { recursive: true })
    const disk = SimulatedDisk.watch(directory)
    const sources = [0, 1].map((i) => ({ name: `${i}`, path: join(live, `${i}`) }))
    const merged = await MergedLines.open({
      path: join(directory, 'merged'),
      cursorPath: join(directory, 'state/cursor'),
      sources,
    })
    const begun: number[] = []
    const done: number[] = []
    for (const step of STORY.keys()) {
      for (const i of [0, 1]) writeFileSync(join(live, `${i}`), await readFile(join(shares, `${step}`, `${i}`)))
      begun.push(disk.now)
      await merged.advance(statesAt(step))
      done.push(disk.now)
    }
    await merged.close()
    disk.stop()
    const kinds = new Set<string>()
    await disk.afterEachCut('merged', 1, async (copy, { at }) => {
      const step = Math.max(
        0,
        begun.findLastIndex((moment) => moment <= at),
      )
      const promised = done.findLastIndex((moment) => moment <= at)
      if (promised !== -1) {
        // As whoever reads it finds it, before anybody has put it in order.
        const found = new Set((await readFile(join(copy, 'merged'), 'utf8')).split('\n'))
        const stillTrue = new Set(linesAt(step))
        for (const line of linesAt(promised)) if (stillTrue.has(line)) expect(found.has(line)).toBe(true)
      }
      const again = await open(copy, step)
      kinds.add(promised === step ? 'done' : 'under way')
      await again.advance(statesAt(step))
      expect(await linesIn(copy)).toEqual(linesAt(step))
      // And goes on from there.
      await again.close()
      const next = Math.min(step + 1, STORY.length - 1)
      const later = await open(copy, next)
      await later.advance(statesAt(next))
      expect(await linesIn(copy)).toEqual(linesAt(next))
      await later.close()
    })
    expect(kinds).toEqual(new Set(['done', 'under way']))
  },
)

test('a file that has lost its end is made anew, and no cut has its old cursor speak for the new one', async () => {
  writeStory()
  const step = 3
  // The cursor that is left has less of the sources than the new file will have, in another order.
  for (let at = 0; at < step; at++) {
    const merged = await open(directory, at)
    await merged.advance(statesAt(at))
    await merged.close()
  }
  const before = await readFile(join(directory, 'merged'), 'utf8')
  writeFileSync(join(directory, 'merged'), before.slice(0, -10))
  const disk = SimulatedDisk.watch(directory)
  const merged = await open(directory, step)
  await merged.advance(statesAt(step))
  await merged.close()
  disk.stop()
  expect((await readFile(join(directory, 'merged'), 'utf8')).startsWith(before)).toBe(false)
  await disk.afterEachCut('lost end', 8, async (copy) => {
    for (const next of [step, step + 2]) {
      const again = await open(copy, next)
      await again.advance(statesAt(next))
      await again.close()
      expect(await linesIn(copy)).toEqual(linesAt(next))
    }
  })
})

test.for<[Operation, string, string]>([
  ['write', 'ENOSPC', 'DISK_FULL'],
  ['create', 'ENOSPC', 'DISK_FULL'],
  ['sync', 'EIO', 'DISK_FAILED'],
  ['rename', 'EIO', 'DISK_FAILED'],
  ['remove', 'EIO', 'DISK_FAILED'],
])(
  'a %s that fails with %s is a fault that can be repeated, whenever it comes: nothing is lost, nothing twice',
  async ([operation, errno, code]) => {
    writeStory()
    let failures = 0
    for (let nth = 1; ; nth++) {
      const into = newDisk()
      const disk = SimulatedDisk.watch(into)
      let count = 0
      disk.refuse = (what) => (what === operation && ++count === nth ? errno : null)
      for (const step of STORY.keys()) {
        const attempt = async (): Promise<void> => {
          const merged = await open(into, step)
          try {
            // A second call in the same life goes on as well as one in the next.
            await merged.advance(statesAt(step)).catch(async (fault: unknown) => {
              expect(fault).toMatchObject({ code })
              failures++
              await merged.advance(statesAt(step))
            })
          } finally {
            await merged.close()
          }
        }
        await attempt().catch(async (fault: unknown) => {
          expect(fault).toMatchObject({ code })
          failures++
          await attempt()
        })
        expect(await linesIn(into)).toEqual(linesAt(step))
      }
      disk.stop()
      if (count < nth) break
    }
    expect(failures).toBeGreaterThan(2)
  },
)
