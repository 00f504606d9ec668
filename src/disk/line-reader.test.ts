import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { AppendFile } from './append-file.ts'
import { LineReader } from './line-reader.ts'

const directory = mkdtempSync(join(tmpdir(), 'portolan-lines-'))
const path = join(directory, 'lines')
afterAll(() => rmSync(directory, { recursive: true }))

async function withReader<T>(use: (reader: LineReader) => Promise<T>): Promise<T> {
  const reader = await LineReader.open(path)
  try {
    return await use(reader)
  } finally {
    await reader.close()
  }
}

test('every line is read by the byte at which it begins, whatever its length', async () => {
  const line = fc.oneof(
    fc.string({ unit: 'grapheme' }).map((text) => text.replaceAll('\n', '')),
    fc.nat({ max: 40_000 }).map((length) => 'é'.repeat(length)),
    fc.constantFrom(2046, 2047, 2048, 2049).map((length) => 'x'.repeat(length)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 20 }), async (lines) => {
      writeFileSync(path, lines.map((text) => `${text}\n`).join(''))
      await withReader(async (reader) => {
        let offset = 0
        for (const text of lines) {
          expect(await reader.readAt(offset)).toBe(text)
          offset += Buffer.byteLength(text) + 1
        }
      })
    }),
  )
})

test('lines that are appended after it was opened are read too', async () => {
  writeFileSync(path, '')
  const file = await AppendFile.open(path)
  await withReader(async (reader) => {
    for (let i = 0; i < 3; i++) {
      const offset = file.append(`line ${i}\n`)
      await expect(reader.readAt(offset)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
      await file.flush()
      expect(await reader.readAt(offset)).toBe(`line ${i}`)
    }
  })
  await file.close()
})

test('a place where no line begins, or none ends, is a fault that names the file', async () => {
  writeFileSync(path, 'first\nsecond\n')
  await withReader(async (reader) => {
    const damaged = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(path) }
    await expect(reader.readAt(3)).rejects.toMatchObject(damaged)
    await expect(reader.readAt(13)).rejects.toMatchObject(damaged)
    await expect(reader.readAt(5_000_000_000)).rejects.toMatchObject(damaged)
    truncateSync(path, 9)
    await expect(reader.readAt(6)).rejects.toMatchObject(damaged)
    expect(await reader.readAt(0)).toBe('first')
  })
})

test('a file that is not there is a fault', async () => {
  await expect(LineReader.open(join(directory, 'none'))).rejects.toMatchObject({ code: 'DISK_FAILED' })
})
