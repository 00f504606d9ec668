// A file is given as it is, whatever its length, in pieces that are small and in memory that is bounded.

import { existsSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PIECE_BYTES, readPieces } from './read-pieces.ts'

let folder = ''

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-pieces-'))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

test.each([0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 2 ** 20, 2 ** 20 + 1, 3 * 2 ** 20 - 7])(
  'a file of %i bytes comes whole, in order and in small pieces',
  async (length) => {
    const path = join(folder, `${length}`)
    const bytes = Buffer.from(Array.from({ length }, (_, i) => (i * 31 + (i >> 8)) & 255))
    writeFileSync(path, bytes)
    const pieces: Buffer[] = []
    for await (const piece of readPieces(path)) {
      expect(piece.length).toBeGreaterThan(0)
      expect(piece.length).toBeLessThanOrEqual(PIECE_BYTES)
      pieces.push(Buffer.from(piece))
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true)
  },
)

test('a file that is not there is an error of the system', async () => {
  await expect(readPieces(join(folder, 'absent')).next()).rejects.toMatchObject({ code: 'ENOENT' })
})

test.skipIf(!existsSync('/proc/self/fd'))('whoever stops early leaves no file open', async () => {
  const path = join(folder, 'long')
  writeFileSync(path, Buffer.alloc(2 ** 21))
  for await (const piece of readPieces(path)) {
    expect(piece.length).toBe(PIECE_BYTES)
    break
  }
  const open = readdirSync('/proc/self/fd').flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      // Gone meanwhile, as the folder's own is.
      return []
    }
  })
  expect(open).not.toContain(path)
})
