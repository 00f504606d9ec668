// What a merged file is appended to and made anew from, one case at a time; merged-lines.fuzz.ts has them in any order.

import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { damage, DAMAGES, Stand } from '../../test/merged-stand.ts'
import { MergedLines } from './merged-lines.ts'

const parent = mkdtempSync(join(tmpdir(), 'portolan-merged-'))
afterAll(() => rmSync(parent, { recursive: true }))

describe('what is appended and what is made anew', () => {
  test('an advance appends what was committed since, and leaves the file alone where that is nothing', async () => {
    const stand = new Stand(parent)
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
    const stand = new Stand(parent)
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

  test.for(DAMAGES)(
    'after the loss of the %s it is made anew, not before there is something to put in its place',
    async (what) => {
      const stand = new Stand(parent)
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
    const stand = new Stand(parent)
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
    const stand = new Stand(parent)
    const merged = await stand.open()
    stand.write(0, [10, 10, 10])
    await merged.advance(stand.states)
    stand.cutBack(0, 1)
    await merged.advance(stand.states)
    stand.check()
    await merged.close()
  })

  test('a source that comes later is added, one that is there no more takes its lines with it', async () => {
    const stand = new Stand(parent, 2)
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
    const stand = new Stand(parent)
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
    const stand = new Stand(parent)
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
    const stand = new Stand(parent)
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
    const stand = new Stand(parent)
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
    const stand = new Stand(parent, 1)
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
  const stand = new Stand(parent)
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
