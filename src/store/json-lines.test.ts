import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { JsonLines, readJsonLines } from './json-lines.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-store-'))
  path = join(folder, 'pages.jsonl')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function readAll(): Promise<unknown[]> {
  const records: unknown[] = []
  for await (const record of readJsonLines(path)) records.push(record)
  return records
}

test('records come back as they were, one per line, whatever their text holds', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.dictionary(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }))),
      async (records) => {
        const file = await JsonLines.open<Record<string, string>>(path, { committedLength: 0 })
        for (const record of records) file.append(record)
        await file.close()
        expect(JSON.stringify(await readAll())).toBe(JSON.stringify(records))
        expect((await readFile(path, 'utf8')).split('\n')).toHaveLength(records.length + 1)
      },
    ),
    { numRuns: 40 },
  )
})

test('lines longer than what is read at a time come back whole, also where a character is cut in two', async () => {
  const file = await JsonLines.open(path)
  const records = ['é'.repeat(300_000), 'x', `x${'€'.repeat(200_000)}`]
  for (const record of records) file.append(record)
  await file.close()
  expect(await readAll()).toEqual(records)
})

test('a last line torn by a crash is left out, wherever it was torn', async () => {
  const whole = '{"a":1}\n{"b":2}\n'
  const torn = '{"c":"three é"}'
  const bytes = Buffer.from(torn)
  for (let length = 0; length <= bytes.length; length++) {
    await writeFile(path, whole)
    await appendFile(path, bytes.subarray(0, length))
    expect(await readAll()).toEqual([{ a: 1 }, { b: 2 }])
  }
})

test('a damaged line before the last is a fault that names it', async () => {
  await writeFile(path, '{"a":1}\n{"b":\n{"c":3}\n')
  await expect(readAll()).rejects.toMatchObject({
    code: 'LEDGER_CORRUPT',
    message: expect.stringContaining('line 2') as string,
  })
})

test('a file that is not there is a fault that names it', async () => {
  await expect(readAll()).rejects.toMatchObject({
    code: 'DISK_FAILED',
    message: expect.stringContaining('pages.jsonl') as string,
  })
})

test('what was not committed is cut off, and writing goes on behind what was', async () => {
  const first = await JsonLines.open<string>(path)
  first.append('committed')
  await first.sync()
  const committedLength = first.length
  first.append('not committed')
  await first.close()
  const second = await JsonLines.open<string>(path, { committedLength })
  second.append('later')
  expect(second.needsDrain).toBe(false)
  await second.drained()
  await second.close()
  expect(await readAll()).toEqual(['committed', 'later'])
})

test('a reader may stop early and lets go of the file', async () => {
  await writeFile(path, '1\n2\n3\n')
  for await (const record of readJsonLines(path)) {
    expect(record).toBe(1)
    break
  }
})
