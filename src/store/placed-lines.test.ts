// Every line comes with the byte at which it begins, from wherever one starts to read.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { beforeAll, afterAll, expect, test } from 'vitest'
import { readPlacedLines } from './placed-lines.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-lines-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('positions are those of the bytes, whatever the text and wherever reading begins', async () => {
  const path = join(folder, 'any.jsonl')
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 8 }), fc.nat(), async (texts, some) => {
      const lines = texts.map((text) => `${JSON.stringify(text)}\n`)
      const places = lines.map((_, i) => Buffer.byteLength(lines.slice(0, i).join('')))
      const bytes = Buffer.from(lines.join(''))
      writeFileSync(path, Buffer.concat([bytes, Buffer.from('"torn')]))
      const all = await Array.fromAsync(readPlacedLines<string>(path))
      expect(all.map(({ record }) => record)).toEqual(texts)
      expect(all.map(({ position }) => position)).toEqual(places)
      expect(all.map(({ end }) => end)).toEqual([...places.slice(1), bytes.length].slice(0, texts.length))
      const from = some % (bytes.length + 1)
      const midway = await Array.fromAsync(readPlacedLines<string>(path, from, true))
      expect(midway.map(({ position }) => position)).toEqual(places.filter((place) => place >= from))
    }),
  )
})

test('lines across windows are whole', async () => {
  const path = join(folder, 'long.jsonl')
  const texts = [300_000, 10, 600_000, 1].map((length, i) => String(i).repeat(length))
  writeFileSync(path, texts.map((text) => `"${text}"\n`).join(''))
  const read = await Array.fromAsync(readPlacedLines<string>(path))
  expect(read.map(({ record }) => record)).toEqual(texts)
})

test('a line that is no JSON is named by its byte', async () => {
  const path = join(folder, 'bad.jsonl')
  writeFileSync(path, '1\nno\n')
  await expect(Array.fromAsync(readPlacedLines(path))).rejects.toThrow('bad.jsonl has no JSON at byte 2')
})
