// The merged file has every committed line of every source exactly once, whatever was lost, cut or begun anew meanwhile.

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type CommittedLengths, MergedLines } from './merged-lines.ts'

const parent = mkdtempSync(join(tmpdir(), 'portolan-merged-'))
afterAll(() => rmSync(parent, { recursive: true }))

/** Sources that write, commit and take back, as agents do, and the merged file with its cursor. */
class Stand {
  readonly dir = mkdtempSync(join(parent, 'stand-'))
  readonly merged = join(this.dir, 'merged')
  readonly cursor = join(this.dir, 'cursor')
  readonly names: readonly string[]
  readonly #editions: number[]
  readonly #committed: number[]
  #lines = 0

  constructor(sources = 2) {
    this.names = Array.from({ length: sources }, (_, i) => `share ${i}`)
    this.#editions = this.names.map(() => 0)
    this.#committed = this.names.map(() => 0)
  }

  path(source: number): string {
    return join(this.dir, `source-${source}`)
  }

  open(): Promise<MergedLines> {
    const sources = this.names.map((name, i) => ({
      name,
      path: this.path(i),
      editionPath: (edition: number) => `${this.path(i)}-${edition}`,
    }))
    return MergedLines.open({ path: this.merged, cursorPath: this.cursor, sources })
  }

  /** Lines that no other equals, of these lengths; what a crash left behind the committed ones goes first. */
  write(source: number, lengths: readonly number[], tail = ''): void {
    this.#publish(source)
    if (existsSync(this.path(source))) truncateSync(this.path(source), this.#committed[source])
    const text = lengths.map((length) => `${source}:${this.#lines++}:${'é'.repeat(length)}\n`).join('')
    appendFileSync(this.path(source), text + tail)
    this.#committed[source] = (this.#committed[source] ?? 0) + Buffer.byteLength(text)
  }

  /** As a repair does: the last lines did not happen. */
  cutBack(source: number, lines: number): void {
    this.#publish(source)
    const kept = this.#linesOf(source).slice(0, -lines).join('')
    truncateSync(this.path(source), Buffer.byteLength(kept))
    this.#committed[source] = Buffer.byteLength(kept)
  }

  /** A new edition, without the lines that are taken back. */
  takeBack(source: number, isKept: (index: number) => boolean, published = true): void {
    this.#publish(source)
    const kept = this.#linesOf(source)
      .filter((_, index) => isKept(index))
      .join('')
    const edition = (this.#editions[source] ?? 0) + 1
    writeFileSync(published ? this.path(source) : `${this.path(source)}-${edition}`, kept)
    this.#editions[source] = edition
    this.#committed[source] = Buffer.byteLength(kept)
  }

  get states(): CommittedLengths {
    return Object.fromEntries(
      this.names.map((name, i) => [name, { length: this.#committed[i] ?? 0, edition: this.#editions[i] ?? 0 }]),
    )
  }

  /** Gives an edition the file's own name. */
  #publish(source: number): void {
    const edition = `${this.path(source)}-${this.#editions[source]}`
    if (existsSync(edition)) renameSync(edition, this.path(source))
  }

  #linesOf(source: number): string[] {
    const edition = `${this.path(source)}-${this.#editions[source]}`
    const path = existsSync(edition) ? edition : this.path(source)
    if (!existsSync(path)) return []
    return splitLines(readFileSync(path).subarray(0, this.#committed[source]).toString())
  }

  /** Each line once, those of a source in their order, and nothing else. */
  check(): void {
    const found = splitLines(readFileSync(this.merged, 'utf8'))
    const bySource = this.names.map((_, i) => found.filter((line) => line.startsWith(`${i}:`)))
    expect(bySource).toEqual(this.names.map((_, i) => this.#linesOf(i)))
    expect(found).toHaveLength(bySource.flat().length)
  }
}

/** With their ends; what follows the last end is a line too, and torn. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** A cursor that was replaced, and the file that it spoke of. */
interface OlderCursor {
  readonly cursor: Buffer
  readonly inode: number
}

type Step =
  | { readonly kind: 'write'; readonly source: number; readonly lengths: readonly number[]; readonly tail: string }
  | { readonly kind: 'advance' | 'reopen' }
  | { readonly kind: 'cut back'; readonly source: number; readonly lines: number }
  | { readonly kind: 'take back'; readonly source: number; readonly nth: number; readonly published: boolean }
  | { readonly kind: 'crash'; readonly loses: number; readonly garbage: string; readonly toOlderCursor: boolean }
  | { readonly kind: 'damage'; readonly what: 'merged' | 'merged end' | 'cursor' | 'cursor torn' }

const source = fc.nat(2)
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('write' as const),
      source,
      lengths: fc.array(fc.oneof(fc.nat(40), fc.nat(3_000)), { maxLength: 6 }),
      tail: fc.constantFrom('', 'half a li', 'whole, not committed\nand ha'),
    }),
    fc.constant({ kind: 'advance' as const }),
    fc.constant({ kind: 'advance' as const }),
    fc.constant({ kind: 'reopen' as const }),
    fc.record({ kind: fc.constant('cut back' as const), source, lines: fc.integer({ min: 1, max: 5 }) }),
    fc.record({
      kind: fc.constant('take back' as const),
      source,
      nth: fc.integer({ min: 1, max: 3 }),
      published: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('crash' as const),
      loses: fc.nat(200),
      garbage: fc.constantFrom('', '\0\0\0\0', 'torn', 'a line\nand half'),
      toOlderCursor: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('damage' as const),
      what: fc.constantFrom('merged' as const, 'merged end' as const, 'cursor' as const, 'cursor torn' as const),
    }),
  ),
  { maxLength: 30 },
)

test('whatever happens between, after an advance every committed line is there once, whole and in its order', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const stand = new Stand(3)
      let merged = await stand.open()
      let older: OlderCursor | null = null
      for (const step of [...list, { kind: 'reopen' as const }, { kind: 'advance' as const }]) {
        seen.add(step.kind)
        if (step.kind === 'write') stand.write(step.source, step.lengths, step.tail)
        else if (step.kind === 'advance') {
          older =
            existsSync(stand.cursor) && existsSync(stand.merged)
              ? { cursor: readFileSync(stand.cursor), inode: statSync(stand.merged).ino }
              : null
          await merged.advance(stand.states)
          stand.check()
        } else {
          // All others happen while nobody has it open: a repair, a requeue, a crash, a hand.
          await merged.close()
          if (step.kind === 'cut back' && existsSync(stand.path(step.source))) stand.cutBack(step.source, step.lines)
          if (step.kind === 'take back') {
            stand.takeBack(step.source, (index) => index % step.nth !== 0, step.published)
          }
          if (step.kind === 'crash') crash(stand, step, older)
          if (step.kind === 'damage') {
            damage(stand, step.what)
            older = null
          }
          merged = await stand.open()
        }
      }
      await merged.close()
      rmSync(stand.dir, { recursive: true })
    }),
    { numRuns: 60 },
  )
  expect(seen.size).toBe(7)
})

/** What was not synced is lost, or was never whole; the cursor may be the one before, if that spoke of the same file. */
function crash(
  stand: Stand,
  { loses, garbage, toOlderCursor }: Step & { readonly kind: 'crash' },
  older: OlderCursor | null,
): void {
  if (!existsSync(stand.cursor) || !existsSync(stand.merged)) return
  const { size, ino } = statSync(stand.merged)
  if (toOlderCursor && older?.inode === ino) writeFileSync(stand.cursor, older.cursor)
  const length = /"length":(\d+)/.exec(readFileSync(stand.cursor, 'utf8'))?.[1]
  // A cursor that was damaged before says nothing of what is durable.
  if (length === undefined) return
  if (size > Number(length)) truncateSync(stand.merged, Math.max(Number(length), size - loses))
  appendFileSync(stand.merged, garbage)
  writeFileSync(`${stand.merged}.new`, garbage)
}

function damage(stand: Stand, what: (Step & { readonly kind: 'damage' })['what']): void {
  if (!existsSync(stand.cursor) || !existsSync(stand.merged)) return
  if (what === 'merged') rmSync(stand.merged)
  else if (what === 'merged end') truncateSync(stand.merged, Math.floor(statSync(stand.merged).size / 2))
  else if (what === 'cursor') rmSync(stand.cursor)
  else truncateSync(stand.cursor, 20)
}

describe('what is appended and what is made anew', () => {
  test('an advance appends what was committed since, and leaves the file alone where that is nothing', async () => {
    const stand = new Stand()
    const merged = await stand.open()
    stand.write(0, [10, 20], 'not committed')
    await merged.advance(stand.states)
    stand.check()
    const { ino } = statSync(stand.merged)
    stand.write(1, [5])
    stand.write(0, [7])
    await merged.advance(stand.states)
    stand.check()
    const before = statSync(stand.cursor)
    await merged.advance(stand.states)
    expect(statSync(stand.cursor)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs })
    expect(statSync(stand.merged).ino).toBe(ino)
    await merged.close()
  })

  test('opening cuts off what is behind the cursor and goes on in the same file', async () => {
    const stand = new Stand()
    let merged = await stand.open()
    stand.write(0, [10])
    await merged.advance(stand.states)
    await merged.close()
    const { ino, size } = statSync(stand.merged)
    appendFileSync(stand.merged, 'half a line')
    merged = await stand.open()
    expect(statSync(stand.merged)).toMatchObject({ ino, size })
    stand.write(1, [10])
    await merged.advance(stand.states)
    stand.check()
    expect(statSync(stand.merged).ino).toBe(ino)
    await merged.close()
  })

  test.for(['cursor', 'cursor torn', 'merged', 'merged end'] as const)(
    'after the loss of the %s it is made anew, not before there is something to put in its place',
    async (what) => {
      const stand = new Stand()
      let merged = await stand.open()
      stand.write(0, [10, 10])
      stand.write(1, [10, 10])
      await merged.advance(stand.states)
      await merged.close()
      damage(stand, what)
      const left = existsSync(stand.merged) ? readFileSync(stand.merged, 'utf8') : null
      merged = await stand.open()
      expect(existsSync(stand.merged) ? readFileSync(stand.merged, 'utf8') : null).toBe(left)
      await merged.advance(stand.states)
      stand.check()
      await merged.close()
    },
  )

  test('a source that was cut back and has grown beyond its old length is not taken for the old one', async () => {
    const stand = new Stand()
    let merged = await stand.open()
    stand.write(0, [10, 10, 10])
    stand.write(1, [10])
    await merged.advance(stand.states)
    await merged.close()
    stand.cutBack(0, 2)
    stand.write(0, [10, 10, 10, 10])
    merged = await stand.open()
    await merged.advance(stand.states)
    stand.check()
    await merged.close()
  })

  test('a source that is told shorter than before is merged anew', async () => {
    const stand = new Stand()
    const merged = await stand.open()
    stand.write(0, [10, 10, 10])
    await merged.advance(stand.states)
    stand.cutBack(0, 1)
    await merged.advance(stand.states)
    stand.check()
    await merged.close()
  })

  test('a source that comes later is added, one that is there no more takes its lines with it', async () => {
    const stand = new Stand(2)
    stand.write(0, [10])
    stand.write(1, [10])
    const sources = stand.names.map((name, i) => ({ name, path: stand.path(i) }))
    const over = async (...indices: number[]): Promise<string> => {
      const used = indices.map((i) => sources[i]).filter((one) => one !== undefined)
      const merged = await MergedLines.open({ path: stand.merged, cursorPath: stand.cursor, sources: used })
      await merged.advance(stand.states)
      await merged.close()
      return readFileSync(stand.merged, 'utf8')
    }
    const [first, second] = [0, 1].map((i) => readFileSync(stand.path(i), 'utf8'))
    expect(await over(0)).toBe(first)
    expect(await over(0, 1)).toBe(`${first}${second}`)
    expect(await over(1)).toBe(second)
  })

  test('lines longer than any buffer come through', async () => {
    const stand = new Stand()
    const merged = await stand.open()
    stand.write(0, [1, 700_000, 3])
    stand.write(1, [900_000])
    await merged.advance(stand.states)
    stand.check()
    await merged.close()
  })
})

describe('editions', () => {
  test('lines that were taken back are gone, also before the edition has its own name', async () => {
    const stand = new Stand()
    const merged = await stand.open()
    stand.write(0, [10, 20, 30])
    stand.write(1, [5, 6])
    await merged.advance(stand.states)
    for (const published of [true, false]) {
      stand.takeBack(0, (index) => index !== 0, published)
      await merged.advance(stand.states)
      stand.check()
      stand.write(0, [40])
      await merged.advance(stand.states)
      stand.check()
    }
    await merged.close()
  })

  test('an edition that was followed by another before it could be read changes nothing; the other one does', async () => {
    const stand = new Stand()
    const merged = await stand.open()
    stand.write(0, [10, 20, 30])
    await merged.advance(stand.states)
    const before = readFileSync(stand.merged, 'utf8')
    stand.takeBack(0, (index) => index !== 0)
    const missed = stand.states
    stand.takeBack(0, (index) => index !== 0)
    await merged.advance(missed)
    expect(readFileSync(stand.merged, 'utf8')).toBe(before)
    await merged.advance(stand.states)
    stand.check()
    await merged.close()
  })

  test('one that never fits is a fault', async () => {
    const stand = new Stand()
    const merged = await stand.open()
    stand.write(0, [10, 20, 30])
    truncateSync(stand.path(0), 30)
    await merged.advance(stand.states)
    await expect(merged.advance(stand.states)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    await merged.close()
  })
})

describe('what must not be', () => {
  const lone = async (): Promise<{ stand: Stand; merged: MergedLines }> => {
    const stand = new Stand(1)
    stand.write(0, [10, 10])
    const source = { name: 'share 0', path: stand.path(0) }
    const merged = await MergedLines.open({ path: stand.merged, cursorPath: stand.cursor, sources: [source] })
    return { stand, merged }
  }

  test.for<[what: string, length: (size: number) => number]>([
    ['shorter than was committed', (size) => size + 1],
    ['committed in the middle of a line', (size) => size - 1],
  ])('a source that is %s is a fault, and nothing of it is shown', async ([, lengthOf]) => {
    const { stand, merged } = await lone()
    const { size } = statSync(stand.path(0))
    const wrong = { 'share 0': lengthOf(size) }
    await expect(merged.advance(wrong)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    expect(existsSync(stand.merged)).toBe(false)
    expect(existsSync(`${stand.merged}.new`)).toBe(false)
    await merged.advance({ 'share 0': size })
    stand.check()
    await merged.close()
  })

  test('a source that nothing was said of', async () => {
    const { merged } = await lone()
    expect(() => merged.advance({})).toThrow('share 0')
    await merged.close()
  })

  test('a file merged into itself', async () => {
    const { stand, merged } = await lone()
    await merged.close()
    const sources = [{ name: 'all', path: stand.merged }]
    await expect(MergedLines.open({ path: stand.merged, cursorPath: stand.cursor, sources })).rejects.toThrow('itself')
  })
})

test('one advance works at a time; those that come meanwhile wait for one more, which goes by the last word', async () => {
  const stand = new Stand()
  const merged = await stand.open()
  stand.write(0, [10])
  const first = merged.advance(stand.states)
  stand.write(0, [20])
  const second = merged.advance(stand.states)
  stand.write(1, [30])
  const third = merged.advance(stand.states)
  expect(third).toBe(second)
  await first
  await second
  stand.check()
  stand.write(1, [40])
  void merged.advance(stand.states)
  const last = merged.advance(stand.states)
  await merged.close()
  await last
  stand.check()
})
