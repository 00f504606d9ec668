// The course of a crawl stays bounded, keeps its ends, and survives a crash and a second run.

import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadTimeline, Timeline, type TimelineSample } from './timeline.ts'

let dir: string
let path: string

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'portolan-timeline-'))
  path = join(dir, 'timeline.jsonl')
})

afterEach(async () => {
  await rm(dir, { recursive: true })
})

function sampleAt(t: number): TimelineSample {
  return {
    t,
    pages: t * 10,
    bytes: t * 1_000,
    failed: 0,
    skipped: 0,
    waiting: 5,
    hosts: 2,
    active: 1,
    rssBytes: 1e8,
    cpuSeconds: t / 2,
  }
}

test('what was appended is read back', async () => {
  const timeline = await Timeline.open(path)
  for (let t = 0; t < 5; t++) timeline.append(sampleAt(t))
  await timeline.close()
  expect(await loadTimeline(path)).toEqual([0, 1, 2, 3, 4].map(sampleAt))
})

test('the file never grows beyond its bound, and the gap doubles as it thins', async () => {
  const timeline = await Timeline.open(path, 16)
  for (let t = 0; t <= 200; t++) {
    timeline.append(sampleAt(t))
    expect(timeline.samples.length).toBeLessThanOrEqual(16)
  }
  await timeline.close()
  expect((await readFile(path, 'utf8')).split('\n').length - 1).toBe(timeline.samples.length)
  expect(timeline.gapSeconds).toBe(16)
  const times = (await loadTimeline(path)).map((sample) => sample.t)
  expect(times.length).toBeGreaterThanOrEqual(8)
  for (let i = 1; i < times.length; i++) expect(times[i]! - times[i - 1]!).toBeGreaterThanOrEqual(8)
})

test('samples nearer than the gap are left out, but the last word is always kept', async () => {
  const timeline = await Timeline.open(path)
  timeline.append(sampleAt(0))
  timeline.append(sampleAt(0.1))
  timeline.append(sampleAt(0.24))
  await timeline.close(sampleAt(0.3))
  expect((await loadTimeline(path)).map((sample) => sample.t)).toEqual([0, 0.24, 0.3])
})

test('a second run goes on in the same file at the same gap', async () => {
  const first = await Timeline.open(path, 16)
  for (let t = 0; t <= 100; t++) first.append(sampleAt(t))
  await first.close(sampleAt(101))
  const second = await Timeline.open(path, 16)
  expect(second.gapSeconds).toBe(first.gapSeconds)
  second.append(sampleAt(150))
  await second.close()
  expect((await loadTimeline(path)).at(-1)).toEqual(sampleAt(150))
})

test('a line torn by a crash is dropped and does not spoil the next', async () => {
  await writeFile(path, `${JSON.stringify(sampleAt(0))}\n${JSON.stringify(sampleAt(1))}\n`)
  await appendFile(path, '{"t":2,"pages":')
  const timeline = await Timeline.open(path)
  timeline.append(sampleAt(3))
  await timeline.close()
  expect((await loadTimeline(path)).map((sample) => sample.t)).toEqual([0, 1, 3])
})

test('an absent file is a crawl without a course', async () => {
  expect(await loadTimeline(join(dir, 'none'))).toEqual([])
})

test.each(['nonsense', '[]', 'null', '{"t":1}', '{"t":"1"}'])('the line %s is left out', async (line) => {
  await writeFile(path, `${line}\n${JSON.stringify(sampleAt(7))}\n`)
  expect(await loadTimeline(path)).toEqual([sampleAt(7)])
})

test('a disk that fails while the crawl runs is told at the end', async () => {
  const sub = join(dir, 'sub')
  await mkdir(sub)
  const timeline = await Timeline.open(join(sub, 'timeline.jsonl'))
  await rm(sub, { recursive: true })
  timeline.append(sampleAt(1))
  timeline.append(sampleAt(2))
  await expect(timeline.close()).rejects.toMatchObject({ name: 'Fault' })
})

test('a directory that cannot be written is told as a fault', async () => {
  await expect(Timeline.open(join(dir, 'absent', 'timeline.jsonl'))).rejects.toMatchObject({ name: 'Fault' })
})
