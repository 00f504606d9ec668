// The newest cursor that is whole holds; what is not a cursor is none.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { CursorFile, loadCursor, removeCursor } from './cursor.ts'

function newPath(): string {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-cursor-'))
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return join(dir, 'pages.cursor')
}

function cursorOf(length: number): Parameters<CursorFile['save']>[0] {
  return { length, sources: { 'state/agents/0': { edition: 0, length, tail: 7 * length } } }
}

test('the last one that was saved is found, in this run and the next', async () => {
  const path = newPath()
  expect(await loadCursor(path)).toBeNull()
  // Of different lengths: what a longer one left behind a shorter is not read.
  for (const length of [5, 50_000, 6, 70_000_000, 8]) {
    const last = await loadCursor(path)
    const file = await CursorFile.open(path, last)
    await file.save(cursorOf(length))
    expect(await loadCursor(path)).toMatchObject(cursorOf(length))
    await file.save(cursorOf(length + 1))
    await file.close()
    expect(await loadCursor(path)).toMatchObject(cursorOf(length + 1))
  }
  await removeCursor(path)
  expect(await loadCursor(path)).toBeNull()
})

test('a cursor with any byte of it changed is not found, but the one before; with both changed there is none', async () => {
  const path = newPath()
  const file = await CursorFile.open(path, null)
  await file.save(cursorOf(1_000))
  await file.save(cursorOf(2_000))
  await file.close()
  const whole = readFileSync(path)
  const spoilt = (text: string, at: number): Buffer => {
    const bytes = Buffer.from(whole)
    const place = bytes.indexOf(text) + at
    bytes[place] = (bytes[place] ?? 0) ^ 1
    return bytes
  }
  const newer = /[0-9a-f]{8} \{[^\n]*"sequence":2[^\n]*\n/.exec(whole.toString('latin1'))?.[0] ?? ''
  expect(newer.length).toBeGreaterThan(80)
  for (let at = 0; at < newer.length; at++) {
    writeFileSync(path, spoilt(newer, at))
    expect(await loadCursor(path)).toMatchObject(cursorOf(1_000))
  }
  for (const text of ['', '\n', '00000000 \n', '00000000\n', 'no cursor at all\n', '{"format":1}\n']) {
    writeFileSync(path, text)
    expect(await loadCursor(path)).toBeNull()
  }
})
