// The merged file has every committed line of every source exactly once, whatever was lost, cut or begun anew meanwhile.

import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { damage, DAMAGES, Stand } from '../../test/merged-stand.ts'
import { loadCursor } from './cursor.ts'

const parent = mkdtempSync(join(tmpdir(), 'portolan-merged-'))
afterAll(() => rmSync(parent, { recursive: true }))

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
  | { readonly kind: 'damage'; readonly what: (typeof DAMAGES)[number] }

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
      what: fc.constantFrom(...DAMAGES),
    }),
  ),
  { maxLength: 30 },
)

test('whatever happens between, after an advance every committed line is there once, whole and in its order', async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const stand = new Stand(parent, 3)
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
          if (step.kind === 'crash') await crash(stand, step, older)
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
async function crash(
  stand: Stand,
  { loses, garbage, toOlderCursor }: Step & { readonly kind: 'crash' },
  older: OlderCursor | null,
): Promise<void> {
  if (!existsSync(stand.cursor) || !existsSync(stand.merged)) return
  const { size, ino } = statSync(stand.merged)
  if (toOlderCursor && older?.inode === ino) writeFileSync(stand.cursor, older.cursor)
  const cursor = await loadCursor(stand.cursor)
  // A cursor that was damaged before says nothing of what is durable.
  if (cursor === null) return
  if (size > cursor.length) truncateSync(stand.merged, Math.max(cursor.length, size - loses))
  appendFileSync(stand.merged, garbage)
  writeFileSync(`${stand.merged}.new`, garbage)
}
