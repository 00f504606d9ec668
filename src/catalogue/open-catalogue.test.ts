// A catalogue in its thread: beside crawls as they are written, and after its process was killed.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { summarise } from '../report/index.ts'
import { type CatalogueDesk, CatalogueThread, openCatalogue } from './open-catalogue.ts'

async function opened(dir: string): Promise<CatalogueDesk> {
  const desk = await openCatalogue(dir, { cpuShare: 1 })
  onTestFinished(() => desk.close())
  return desk
}

async function readAll(desk: CatalogueDesk): Promise<void> {
  while ((await desk.advance(1_000)) < 1);
}

for (const agents of [0, 2]) {
  test(`says of a crawl what its report says (${agents === 0 ? 'one agent' : 'two agents, merged'})`, async () => {
    const web = await startTestWeb({ hosts: 3, pages: 12 })
    onTestFinished(() => web.stop())
    const dir = temporaryDirectory(onTestFinished)
    const seeds = [...web.seeds(), 'http://127.9.9.9:9/', `${web.seeds()[0]}nowhere/at/all`]
    await crawl({ seeds, dir, flags: FAST, agents })
    const desk = await opened(dir)
    await readAll(desk)
    const report = await summarise(dir)
    const { total, items } = await desk.pages({})
    expect(total).toBe(report.pages)
    expect(items.length).toBe(Math.min(100, report.pages))
    const statistics = await desk.statistics()
    expect(Object.entries(statistics.statuses)).toEqual(report.statuses.rows.map(({ name, count }) => [name, count]))
    expect(Object.entries(statistics.types)).toEqual(report.types.rows.map(({ name, count }) => [name, count]))
    expect(statistics.duplicates).toBe(report.duplicates.pages)
    expect((await desk.failures({ kind: 'failed' })).total).toBe(report.failed)
    const hosts = await desk.hosts({ sort: 'host' })
    const figures = report.hosts.byPages.map(({ host, pages, errors, bytes }) => ({ host, pages, errors, bytes }))
    expect(
      hosts.items
        .filter(({ pages }) => pages > 0)
        .map(({ meanMs, ...rest }) => (expect(meanMs).toBeGreaterThanOrEqual(0), rest)),
    ).toEqual(figures.toSorted((a, b) => (a.host < b.host ? -1 : 1)))
    const broken = await desk.broken({})
    expect(broken.total).toBe(report.broken.count)
    const linked = new Map(report.broken.listed.map(({ url, linkedFrom }) => [url, linkedFrom]))
    for (const { url, linkedFrom } of broken.items) expect(linkedFrom.count).toBe(linked.get(url))
  })
}

test('goes on after its process was killed while it was made', async () => {
  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  const lines = Array.from({ length: 6_000 }, (_, i) => ({
    url: `http://h${i % 50}.example/${i}`,
    status: i % 10 === 0 ? 404 : 200,
    type: 'text/html',
    title: `page ${i} of many`,
    bytes: 1,
    wireBytes: 1,
    depth: 0,
    firstByteMs: 1,
  }))
  writeFileSync(join(dir, 'pages.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const core = fileURLToPath(new URL('catalogue.ts', import.meta.url))
  const clock = fileURLToPath(new URL('../base/index.ts', import.meta.url))
  // Small portions, so that it is killed between and inside of transactions.
  const program = `
    const { Catalogue } = await import(${JSON.stringify(core)})
    const { systemClock } = await import(${JSON.stringify(clock)})
    const catalogue = await Catalogue.open({ dir: ${JSON.stringify(dir)}, clock: systemClock, linesHeldMax: 500 })
    for (;;) { await catalogue.advance(1, true); console.log(catalogue.readShare) }`
  for (const share of [0.1, 0.5]) {
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exit = once(child, 'exit')
    for await (const data of child.stdout.setEncoding('utf8') as AsyncIterable<string>) {
      if (data.split('\n').some((line) => Number(line) >= share)) child.kill('SIGKILL')
    }
    await exit
  }
  const desk = await opened(dir)
  await readAll(desk)
  expect(await desk.pages({ limit: 1 })).toMatchObject({ total: 6_000, readShare: 1 })
  expect(await desk.pages({ status: 404, host: 'h10.example', limit: 1 })).toMatchObject({ total: 120 })
  const { items } = await desk.pages({ text: 'page 599', limit: 500 })
  expect(items.map(({ url }) => url)).toEqual(
    lines
      .filter(({ title }) => / 599/.test(title))
      .map(({ url }) => url)
      .reverse(),
  )
})

test('is refused where there is no directory, and after it was closed', async () => {
  const dir = temporaryDirectory(onTestFinished)
  await expect(openCatalogue(join(dir, 'none'))).rejects.toThrow(/no directory/)
  const desk = await opened(dir)
  expect(await desk.pages({})).toEqual({ items: [], next: null, total: 0, readShare: 1 })
  await desk.close()
  await expect(desk.pages({})).rejects.toThrow(/closed/)
})

test('several of one thread answer each for its own directory, whichever is closed first', async () => {
  const thread = new CatalogueThread({ cpuShare: 1 })
  const dirs = Array.from({ length: 3 }, () => temporaryDirectory(onTestFinished))
  const open = async (dir: string, number: number): Promise<CatalogueDesk> => {
    const at = '2026-11-16T12:00:00.000Z'
    const failure = { url: 'https://a.test/x', kind: 'failed', reason: 'timeout', detail: '', depth: 1, via: null, at }
    writeFileSync(join(dir, 'failures.jsonl'), `${JSON.stringify(failure)}\n`.repeat(number + 1))
    const desk = await thread.open(dir)
    onTestFinished(() => desk.close())
    await readAll(desk)
    return desk
  }
  const totals = async (desks: readonly CatalogueDesk[]): Promise<unknown> =>
    Promise.all(desks.map(async (desk) => (await desk.failures({})).total))
  const desks = await Promise.all(dirs.map(open))
  expect(await totals(desks)).toEqual([1, 2, 3])
  await expect(thread.open(dirs[1] ?? '')).rejects.toThrow('opened once')
  await desks[0]?.close()
  expect(await totals(desks.slice(1))).toEqual([2, 3])
  await Promise.all(desks.map((desk) => desk.close()))
  // All were closed, and its thread has ended: the next has another.
  expect(await totals([await open(dirs[0] ?? '', 4)])).toEqual([5])
})
