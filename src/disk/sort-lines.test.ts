import { existsSync, truncateSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { sortLines } from './sort-lines.ts'

let folder: string
let output: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'portolan-disk-'))
  output = join(folder, 'sorted')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

async function write(contents: readonly (string | Buffer)[]): Promise<string[]> {
  const paths = contents.map((_, i) => join(folder, `input-${i}`))
  await Promise.all(paths.map((path, i) => writeFile(path, contents[i]!)))
  return paths
}

test('the output holds every line of every input once per occurrence, in byte order', async () => {
  const line = fc
    .uint8Array({ maxLength: 12 })
    .map((bytes) => Buffer.from(bytes.map((byte) => (byte === 10 ? 11 : byte))))
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(line, { maxLength: 60 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 2_000 }),
      fc.integer({ min: 2, max: 5 }),
      async (inputs, memoryBytes, fanIn) => {
        const newline = Buffer.from('\n')
        const paths = await write(inputs.map((lines) => Buffer.concat(lines.flatMap((text) => [text, newline]))))
        const { lines } = await sortLines(paths, output, { memoryBytes, fanIn })
        const expected = inputs.flat().sort((a, b) => Buffer.compare(a, b))
        expect(lines).toBe(expected.length)
        expect(await readFile(output)).toEqual(Buffer.concat(expected.flatMap((text) => [text, newline])))
      },
    ),
    { numRuns: 60 },
  )
})

test('more runs than can be merged at once are merged in rounds, and nothing is left beside the output', async () => {
  const lines = Array.from({ length: 20_000 }, (_, i) => `${(i * 7_919) % 20_000}`.padStart(40, '0'))
  const paths = await write([lines.slice(0, 12_000).join('\n'), `${lines.slice(12_000).join('\n')}\n`])
  // Reads come in blocks, so a run holds at least one block: about a dozen runs.
  await sortLines(paths, output, { memoryBytes: 1, fanIn: 2 })
  expect(await readFile(output, 'utf8')).toBe(`${lines.toSorted().join('\n')}\n`)
  expect((await readdir(folder)).toSorted()).toEqual(['input-0', 'input-1', 'sorted'])
})

test('lines longer than what is read at once, with any bytes in them, stay whole', async () => {
  const long = (first: number, length: number): Buffer =>
    Buffer.from(Array.from({ length }, (_, i) => (i === 0 ? first : 128 + ((i * 7) % 128))))
  const newline = Buffer.from('\n')
  const lines = [
    long(99, 700_000),
    long(98, 65_536),
    long(255, 65_535),
    long(97, 262_145),
    Buffer.from('b'),
    Buffer.alloc(0),
  ]
  const paths = await write([Buffer.concat(lines.flatMap((line) => [line, newline]))])
  for (const memoryBytes of [1, 2 ** 24]) {
    await sortLines(paths, output, { memoryBytes })
    const expected = lines.toSorted((a, b) => Buffer.compare(a, b))
    expect((await readFile(output)).equals(Buffer.concat(expected.flatMap((line) => [line, newline])))).toBe(true)
  }
})

test('nothing sorted is an empty file', async () => {
  expect(await sortLines(await write(['', '']), output)).toEqual({ lines: 0 })
  expect(await readFile(output, 'utf8')).toBe('')
})

test('an input that is missing fails the sort and leaves the old output alone', async () => {
  await writeFile(output, 'old')
  await expect(sortLines([join(folder, 'no')], output)).rejects.toMatchObject({ code: 'DISK_FAILED' })
  expect(await readdir(folder)).toEqual(['sorted'])
  expect(await readFile(output, 'utf8')).toBe('old')
})

test('a run that the disk did not keep whole fails the sort: no line is missed without a word, and the old output stays', async () => {
  await writeFile(output, 'old')
  const lines = Array.from({ length: 20_000 }, (_, i) => String(i).padStart(40, '0'))
  const paths = await write([`${lines.join('\n')}\n`])
  let isCut = false
  const keeps = (): boolean => {
    // In whole lines: nothing else would show it.
    if (!isCut && existsSync(`${output}.run-1`)) {
      truncateSync(`${output}.run-0`, 41 * 100)
      isCut = true
    }
    return true
  }
  await expect(sortLines(paths, output, { memoryBytes: 1, keeps })).rejects.toMatchObject({ code: 'DISK_FAILED' })
  expect(isCut).toBe(true)
  expect((await readdir(folder)).toSorted()).toEqual(['input-0', 'sorted'])
  expect(await readFile(output, 'utf8')).toBe('old')
})
