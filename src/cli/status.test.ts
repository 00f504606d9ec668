// How a crawl stands is told from its files alone, whether somebody runs it, has stopped it, or it is done.

import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { Random } from '../base/index.ts'
import { SegmentedJournal } from '../ledger/index.ts'
import { writeLayout } from '../view/index.ts'
import { runStatus } from './status.ts'

async function startWeb(options: TestWebOptions): Promise<TestWeb> {
  const web = await startTestWeb(options)
  onTestFinished(() => web.stop())
  return web
}

async function status(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const code = await runStatus(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
  })
  return { code, out, err }
}

async function statusJson(dir: string): Promise<Record<string, unknown>> {
  return JSON.parse((await status(dir, '--json')).out) as Record<string, unknown>
}

/** Every file with its time and length. */
function traceOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(dir, name))
      return `${name} ${size} ${mtimeMs}`
    })
}

test('a finished crawl: its figures, under the names of the crawl, and nothing touched', async () => {
  const web = await startWeb({ hosts: 3, pages: 20, faults: 'mild' })
  const dir = temporaryDirectory(onTestFinished)
  const { snapshot, pages, failures } = await crawl({ seeds: web.seeds(), dir })
  const before = traceOf(dir)
  const told = await statusJson(dir)
  expect(told).toMatchObject({
    pages: pages.length,
    failed: failures.filter(({ kind }) => kind === 'failed').length,
    skipped: snapshot.figures.skipped,
    answers: snapshot.figures.answers,
    urlsSeen: snapshot.figures.admitted,
    hosts: snapshot.frontier.hosts,
    bytes: snapshot.figures.bytes,
    waiting: 0,
    state: 'finished',
    running: false,
    pid: null,
    dir,
  })
  expect(told['batch']).toBeGreaterThan(0)
  expect(Date.parse(String(told['lastCommitAt']))).toBeGreaterThan(0)
  const disk = told['disk'] as Record<string, { bytes: number; files: number }>
  expect(disk['pages']?.bytes).toBe(statSync(join(dir, 'pages.jsonl')).size)
  expect(disk['archive']?.files).toBe(readdirSync(join(dir, 'archive')).length)
  const { code, out } = await status(dir)
  expect(code).toBe(0)
  expect(out).toMatch(/^ {2}state {5}finished: nothing is left to fetch$/m)
  expect(out).toMatch(/^ {2}pages {5}[\d,]+ \(2xx [\d,]+.*\), /m)
  expect(traceOf(dir)).toEqual(before)
})

test('answers stand in the order of their classes, times are written as at the end of a crawl, and what failed can be asked again', async () => {
  const web = await startWeb({ hosts: 1, pages: 2 })
  const dir = temporaryDirectory(onTestFinished)
  const [seed = ''] = web.seeds()
  const missing = Array.from({ length: 9 }, (_, index) => `${seed}not/there/${index}`)
  await crawl({ seeds: [seed, ...missing, 'http://127.9.9.9:9/'], dir })
  const { out } = await status(dir)
  expect(out).toMatch(/^ {2}pages {5}11 \(2xx 2, 4xx 9\), /m)
  expect(out).toMatch(/^ {2}time {6}[\d.]+ m?s over all runs, [\d.]+ m?s of CPU$/m)
  expect(out).toContain(
    `  failed    1 (FETCH_CONNECT_REFUSED 1); \`portolan requeue ${dir} --failed\` has them asked again\n`,
  )
})

test('a crawl that was stopped: how to go on', async () => {
  const web = await startWeb({ hosts: 2, pages: 30 })
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: web.seeds(), dir, flags: { ...FAST, 'max-pages': '10' } })
  const told = await statusJson(dir)
  expect(told).toMatchObject({ pages: 10, state: 'stopped' })
  expect(told['urlsSeen']).toBe(10 + Number(told['waiting']))
  expect((await status(dir)).out).toContain(`\`portolan crawl --dir ${dir}\` goes on`)
})

test('a crawl whose hosts rest: until when', async () => {
  const web = await startWeb({ hosts: 2, pages: 30 })
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: web.seeds(), dir, flags: { ...FAST, 'max-pages': '10' } })
  const { pages, waiting } = await statusJson(dir)
  const nextAskAt = '2036-01-01T22:00:00.000Z'
  writeFileSync(join(dir, 'crawl.json'), JSON.stringify({ stoppedBecause: 'only-resting', nextAskAt, pages, waiting }))
  expect(await statusJson(dir)).toMatchObject({ stoppedBecause: 'only-resting', nextAskAt })
  expect((await status(dir)).out).toContain(
    `stopped: every host left rests longer than --max-wait, the first until ${nextAskAt}; \`portolan crawl`,
  )
})

test('a crawl that runs: by whom, and what it has committed', async () => {
  const web = await startWeb({ hosts: 2, pages: 30 })
  const dir = temporaryDirectory(onTestFinished)
  const looked: Promise<Record<string, unknown>>[] = []
  await crawl({
    seeds: web.seeds(),
    dir,
    during: () => void looked.push(statusJson(dir)),
  })
  const running = { state: 'running', running: true, pid: process.pid, stoppedBecause: null }
  expect(await Promise.all(looked)).toMatchObject([running])
})

test('several agents: what all have done, who runs one of them, and damage of one is damage', async () => {
  const web = await startWeb({ hosts: 2, pages: 20, faults: 'mild' })
  const dir = temporaryDirectory(onTestFinished)
  mkdirSync(join(dir, 'state'))
  const shares = ['state/agents/0', 'state/agents/1', 'state/agents/2']
  await writeLayout(dir, shares)
  expect(await statusJson(dir)).toMatchObject({ state: 'stopped', pages: 0, agents: 3, onTheirWay: 0 })
  const [first = '', second = '', third = ''] = shares.map((share) => join(dir, share))
  // One of them has begun, and nothing more.
  const journalOfThird = await SegmentedJournal.open({
    directory: join(third, 'state/journal'),
    random: new Random('third'),
    create: () => ({ name: 'third', key: '0011223344556677', startedAtMs: 0 }),
  })
  await journalOfThird.close()
  const [one, other] = web.seeds()
  const a = await crawl({ seeds: [one ?? '', `${one}not/there`], dir: first })
  const looked: Promise<Record<string, unknown>>[] = []
  const b = await crawl({
    seeds: [other ?? '', 'http://127.9.9.9:9/'],
    dir: second,
    flags: { ...FAST, warc: 'gzip', 'max-pages': '5' },
    during: () => void looked.push(statusJson(dir)),
  })
  expect(await Promise.all(looked)).toMatchObject([{ state: 'running', pid: process.pid }])
  const [ofA, ofB, all] = [await statusJson(first), await statusJson(second), await statusJson(dir)]
  for (const name of ['pages', 'failed', 'bytes', 'hosts', 'urlsSeen', 'waiting', 'batch']) {
    expect([name, all[name]]).toEqual([name, Number(ofA[name]) + Number(ofB[name])])
  }
  expect(all).toMatchObject({
    pages: a.pages.length + 5,
    failed: [...a.failures, ...b.failures].filter(({ kind }) => kind === 'failed').length,
    state: 'stopped',
    dir,
    seconds: Math.max(Number(ofA['seconds']), Number(ofB['seconds'])),
    lastCommitAt: ofB['lastCommitAt'],
  })
  const ofC = await statusJson(third)
  const answers = all['answers'] as Record<string, number>
  expect(Object.values(answers).reduce((sum, count) => sum + count, 0)).toBe(all['pages'])
  const diskOf = (told: Record<string, unknown>, part: string): number =>
    (told['disk'] as Record<string, { bytes: number }>)[part]?.bytes ?? 0
  for (const part of ['pages', 'archive', 'journal', 'frontier']) {
    expect([part, diskOf(all, part)]).toEqual([part, diskOf(ofA, part) + diskOf(ofB, part) + diskOf(ofC, part)])
  }
  const journal = join(second, 'state/journal')
  const path = join(journal, readdirSync(journal)[0] ?? '')
  const bytes = readFileSync(path)
  bytes[200] = (bytes[200] ?? 0) ^ 1
  writeFileSync(path, bytes)
  await expect(status(dir)).rejects.toMatchObject({
    code: 'LEDGER_CORRUPT',
    message: expect.stringMatching(`${second} cannot be used: .*portolan repair ${dir}\``) as string,
  })
})

test('a lock that a dead process left behind is no process', async () => {
  const web = await startWeb({ hosts: 1, pages: 3 })
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: web.seeds(), dir })
  writeFileSync(
    join(dir, 'state/lock'),
    JSON.stringify({ pid: process.pid, startTicks: '1', bootId: 'of another day' }),
  )
  expect(await statusJson(dir)).toMatchObject({ state: 'finished', pid: null })
})

test('a damaged journal is said to be, with the command that helps', async () => {
  const web = await startWeb({ hosts: 1, pages: 20 })
  const dir = temporaryDirectory(onTestFinished)
  await crawl({ seeds: web.seeds(), dir })
  const journal = join(dir, 'state/journal')
  const path = join(journal, readdirSync(journal)[0] ?? '')
  const bytes = readFileSync(path)
  bytes[200] = (bytes[200] ?? 0) ^ 1
  writeFileSync(path, bytes)
  await expect(status(dir)).rejects.toMatchObject({
    code: 'LEDGER_CORRUPT',
    message: expect.stringContaining(`portolan repair ${dir}`) as string,
  })
})

test('no crawl, no directory, too many words: said, all at once', async () => {
  const dir = temporaryDirectory(onTestFinished)
  await expect(status(dir)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: `there is no crawl in ${dir}` })
  const { code, err } = await status('--jsno')
  expect(code).toBe(2)
  expect(err).toContain('did you mean --json?')
  expect(err).toContain('of which crawl?')
  expect((await status('a', 'b')).err).toContain('one directory at a time')
})
