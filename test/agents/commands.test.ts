// The commands that put a crawl in order, on one of two agents: they see both shares, and the crawl goes on to the truth.

import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { runRepair } from '../../src/cli/repair.ts'
import { runRequeue } from '../../src/cli/requeue.ts'
import { runStatus } from '../../src/cli/status.ts'
import { lookAtLastBatch } from '../../src/ledger/index.ts'
import { type FailureRecord, readJsonLines } from '../../src/store/index.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { expectTruth } from '../crawl/expect-truth.ts'
import { crawl, type CrawlResult, FAST, temporaryDirectory } from '../crawl/run-crawl.ts'

const FLAGS = { ...FAST, warc: 'gzip' }
const CONFIG = { frontier: { backoff: '5ms', backoffMax: '20ms' }, agent: { tick: '10ms' } }
const SHARES = ['state/agents/0', 'state/agents/1'] as const
const NOWHERE = ['http://127.9.9.9:9/', 'http://127.9.9.8:9/', 'http://127.9.9.7:9/', 'http://127.9.9.6:9/']
const REFUSED = 'FETCH_CONNECT_REFUSED'
const TIMEOUT = { timeout: 300_000 }

let web: TestWeb
/** Stopped in the middle, with four hosts that refuse connections, spread over both agents. */
let stopped = ''
const cleanups: (() => void)[] = []
beforeAll(async () => {
  web = await startTestWeb({ seed: 'commands', hosts: 8, pages: 30, crossHostShare: 0.4 })
  stopped = temporaryDirectory((fn) => cleanups.push(fn))
  const flags = { ...FLAGS, 'max-pages': '120' }
  await crawl({ seeds: [...web.seeds(), ...NOWHERE], dir: stopped, flags, config: CONFIG, agents: 2 })
  writeFileSync(
    join(stopped, 'state/settings.json'),
    JSON.stringify({ fetch: { allowPrivate: true }, frontier: { delay: '0ms', backoff: '5ms', backoffMax: '20ms' } }),
  )
})
afterAll(async () => {
  for (const fn of cleanups) fn()
  await web.stop()
})

function copyOfCrawl(): string {
  const dir = temporaryDirectory(onTestFinished)
  rmSync(dir, { recursive: true })
  cpSync(stopped, dir, { recursive: true })
  return dir
}

type Run = typeof runRepair
async function run(command: Run, ...args: string[]): Promise<{ code: number; out: string }> {
  let out = ''
  const write = (text: string): unknown => (out += text)
  const code = await command(args, { stdout: { write }, stderr: { write } })
  return { code, out }
}

async function goOn(dir: string): Promise<CrawlResult> {
  return await crawl({ seeds: [], dir, flags: FLAGS, config: CONFIG, agents: 2 })
}

/** All pages of the web; of what is not of the web, that it failed. */
function expectAll(result: CrawlResult): void {
  const failures = result.failures.filter(({ url }) => !NOWHERE.includes(url))
  expectTruth({ ...result, failures }, web.truth())
  expect(result.failures.filter(({ reason }) => reason === REFUSED)).toHaveLength(NOWHERE.length)
  const urls = result.pages.map(({ url }) => url)
  expect(new Set(urls).size).toBe(urls.length)
  expect(checkArchive(result.dir).problems).toEqual([])
}

async function failuresIn(dir: string): Promise<FailureRecord[]> {
  return await Array.fromAsync(readJsonLines<FailureRecord>(join(dir, 'failures.jsonl')))
}

test('status adds up the agents and names them', async () => {
  const told = JSON.parse((await run(runStatus, stopped, '--json')).out) as Record<string, unknown>
  expect(told).toMatchObject({ pages: 120, agents: 2, state: 'stopped' })
  const shares = told['shares'] as { share: string; pages: number; waiting: number }[]
  expect(shares.map(({ share }) => share)).toEqual(SHARES)
  expect(shares.reduce((sum, { pages }) => sum + pages, 0)).toBe(120)
  expect(shares.reduce((sum, { waiting }) => sum + waiting, 0)).toBe(told['waiting'])
  const [one, other] = shares
  expect((await run(runStatus, stopped)).out).toContain(`  agents    2, with ${one?.pages} + ${other?.pages} pages\n`)
})

describe('requeue', () => {
  test('takes back in every share, counts each once, and the merged file follows', TIMEOUT, async () => {
    const dir = copyOfCrawl()
    const perShare = await Promise.all(SHARES.map((share) => failuresIn(join(dir, share))))
    // Else this would be a test of one share.
    for (const failures of perShare) expect(failures.some(({ reason }) => reason === REFUSED)).toBe(true)
    const { code, out } = await run(runRequeue, dir, '--failed', '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toEqual({ dir, requeued: 4, reasons: { [REFUSED]: 4 } })
    for (const place of [dir, ...SHARES.map((share) => join(dir, share))]) {
      expect((await failuresIn(place)).filter(({ reason }) => reason === REFUSED)).toEqual([])
    }
    expect(existsSync(join(dir, 'state/lock'))).toBe(false)
    expectAll(await goOn(dir))
  })
})

describe('repair', () => {
  test('everything whole: said share by share', async () => {
    const { code, out } = await run(runRepair, copyOfCrawl())
    expect(code).toBe(0)
    const titles = [...SHARES, 'of all agents'].map((title) => out.indexOf(` ${title}\n`))
    expect(titles.every((at, index) => at > (titles[index - 1] ?? -1))).toBe(true)
    expect(out.match(/^ {2}journal +whole +up to batch \d+$/gm)).toHaveLength(2)
    expect(out).toMatch(/^ {2}pages\.jsonl +whole +merged from the shares: 120 lines$/m)
    expect(out).toMatch(/Everything is whole\.\n$/)
  })

  test('a share that is gone is a loss, to every command, and not a new share', TIMEOUT, async () => {
    const dir = copyOfCrawl()
    rmSync(join(dir, SHARES[1]), { recursive: true })
    const { code, out } = await run(runRepair, dir, '--apply')
    expect(code).toBe(1)
    expect(out).toContain('This cannot be repaired:\n  state/agents/1: the share is gone\nNothing was changed.')
    const lost = { code: 'LEDGER_CORRUPT', message: expect.stringContaining(`${SHARES[1]} is gone`) as string }
    await expect(goOn(dir)).rejects.toMatchObject(lost)
    await expect(run(runStatus, dir)).rejects.toMatchObject(lost)
    await expect(run(runRequeue, dir, '--failed')).rejects.toMatchObject(lost)
    expect(existsSync(join(dir, SHARES[1]))).toBe(false)
    // As after a run that was refused, the directory is free.
    expect(existsSync(join(dir, 'state/lock'))).toBe(false)
  })

  test('a layout that is gone does not make a new crawl of what is there', TIMEOUT, async () => {
    const dir = copyOfCrawl()
    for (const name of ['state/layout.json', 'pages.jsonl', 'failures.jsonl']) rmSync(join(dir, name))
    rmSync(join(dir, 'archive/index.cdxj'))
    await expect(crawl({ seeds: web.seeds(), dir, agents: 2 })).rejects.toMatchObject({
      code: 'LEDGER_CORRUPT',
      message: expect.stringContaining('layout.json is gone') as string,
    })
    expect(existsSync(join(dir, SHARES[0], 'state/journal'))).toBe(true)
  })

  test('a seen set of one share: made anew, the other share and its archive untouched', TIMEOUT, async () => {
    const dir = copyOfCrawl()
    const folder = join(dir, SHARES[1], 'state/seen')
    for (const name of readdirSync(folder)) truncateSync(join(folder, name), 100)
    const archive = readdirSync(join(dir, 'archive'))
    const before = await lookAtLastBatch(join(dir, SHARES[0], 'state/journal'))
    const { code, out } = await run(runRepair, dir, '--apply', '--json')
    expect(code).toBe(0)
    const told = JSON.parse(out) as { parts: { share: string; part: string; state: string }[]; movedTo: string }
    expect(told).toMatchObject({ repaired: true, obstacles: [], lost: 0 })
    expect(told.parts.filter(({ state }) => state === 'damaged').map(({ share, part }) => [share, part])).toEqual([
      [SHARES[1], 'seen set'],
    ])
    expect(readdirSync(join(told.movedTo, 'agent-1'))).toContain('seen')
    expect(readdirSync(join(dir, 'archive'))).toEqual(archive)
    expect(await lookAtLastBatch(join(dir, SHARES[0], 'state/journal'))).toEqual(before)
    expect((await run(runRepair, dir)).out).toContain('Everything is whole.')
    expectAll(await goOn(dir))
  })

  test('a journal that has lost its end: the others take what it tells them anew', TIMEOUT, async () => {
    const dir = copyOfCrawl()
    // Gone on a little, so that there is more than one batch, of which the last ones are then lost.
    const flags = { ...FLAGS, 'max-pages': '170' }
    await crawl({ seeds: [], dir, flags, config: CONFIG, agents: 2 })
    const folder = join(dir, SHARES[0], 'state/journal')
    const last = (await lookAtLastBatch(folder))?.number ?? 0
    const [segment = ''] = readdirSync(folder)
      .filter((name) => name.endsWith('.log'))
      .toSorted()
      .slice(-1)
    const bytes = readFileSync(join(folder, segment))
    const at = Math.floor(bytes.length * 0.7)
    bytes[at] = (bytes[at] ?? 0) ^ 1
    writeFileSync(join(folder, segment), bytes)
    const { code, out } = await run(runRepair, dir, '--apply', '--json')
    expect(code, out).toBe(0)
    const told = JSON.parse(out) as { parts: { share: string; part: string; state: string; what: string }[] }
    expect(told.parts.find(({ share, part }) => share === SHARES[0] && part === 'journal')?.state).toBe('damaged')
    const kept = (await lookAtLastBatch(folder))?.number ?? 0
    expect(kept).toBeLessThan(last)
    const other = await lookAtLastBatch(join(dir, SHARES[1], 'state/journal'))
    const { holds } = (other?.batch.files['exchange'] ?? { holds: [Infinity] }) as { holds: number[] }
    expect(holds[0]).toBeLessThanOrEqual(kept)
    expect((await run(runRepair, dir)).out).toContain('Everything is whole.')
    expectAll(await goOn(dir))
  })

  test('a line of the merged pages.jsonl is spoilt: made anew from the shares', TIMEOUT, async () => {
    const dir = copyOfCrawl()
    const path = join(dir, 'pages.jsonl')
    const good = readFileSync(path, 'utf8')
    writeFileSync(path, good.replace('"status"', '=status='))
    expect((await run(runRepair, dir)).out).toMatch(/^ {2}pages\.jsonl +DAMAGED +.*no JSON at byte/m)
    const { code, out } = await run(runRepair, dir, '--apply')
    expect(code, out).toBe(0)
    expect(readFileSync(path, 'utf8').split('\n').toSorted()).toEqual(good.split('\n').toSorted())
    expect((await run(runRepair, dir)).out).toContain('Everything is whole.')
  })
})
