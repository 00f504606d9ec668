// A crawl steered by the page alone, from its beginning to its end: a real browser, `portolan ui`, the process it starts, and a web whose
// truth and log say whether anything was lost or anybody asked too soon. Then the finished crawl, opened by another server that has read
// nothing of it yet.
//
// Nothing of it is luck: until it is stopped the crawl is so slow that it cannot end before the test does, and what is waited for is what
// files, log and truth say, however long it takes to be shown.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readJsonLines, type FailureRecord, type PageRecord } from '../../src/store/index.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { type Running, startPortolan } from '../cli/portolan.ts'
import { goTo, openBrowser, openDashboard, type Opened, overhangOf, until } from './browser.ts'

const DELAY_MS = 40
const SHOTS = process.env['SHOTS_INTO']
/** 480 pages: at three requests a second it takes three minutes to its end, at one it takes longer than a test may. */
const WEB = { hosts: 6, pages: 80, meanBytes: 2_000, linksPerPage: 8, branching: 4, crossHostShare: 0.3 }

let browser: Browser
let web: TestWeb
let folder: string
let dir: string
const servers: Running[] = []

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-ui-test-'))
  dir = join(folder, 'harbour')
  web = await startTestWeb({ ...WEB, variants: { missing: 0.05 } })
  const pages = join(import.meta.dirname, '../../dist/dashboard/index.html')
  if (!existsSync(pages)) throw new Error('the dashboard is not built: node tools/build-dashboard.js')
  browser = await openBrowser()
  if (SHOTS !== undefined && !existsSync(SHOTS)) mkdirSync(SHOTS, { recursive: true })
})

afterAll(async () => {
  await browser?.close()
  for (const { child } of servers) child.kill('SIGKILL')
  endCrawl()
  await web?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** It outlives the server that began it: where the test failed it may still run. */
function endCrawl(): void {
  const note = join(dir, 'state/control.json')
  if (!existsSync(note)) return
  try {
    process.kill((JSON.parse(readFileSync(note, 'utf8')) as { pid: number }).pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

/** Serves what is there; ended as a person ends it. */
async function serve(what: string): Promise<{ opened: Opened; end: () => Promise<void> }> {
  const ui = startPortolan(['ui', what, '--port', '0'], { isFromSources: true })
  servers.push(ui)
  const link = await new Promise<string>((resolve, reject) => {
    ui.child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()))
    void ui.finished.then(({ stderr }) => reject(new Error(`portolan ui ended: ${stderr}`)))
  })
  const { origin, hash } = new URL(link)
  const opened = await openDashboard(browser, { url: `${origin}/`, token: hash.replace('#token=', '') })
  const end = async (): Promise<void> => {
    expect(opened.complaints).toEqual([])
    expect(opened.strangers).toEqual([])
    await opened.close()
    ui.child.kill('SIGINT')
    expect((await ui.finished).code).toBe(0)
  }
  return { opened, end }
}

/** What its files say, when it has ended. */
async function outcome(): Promise<{ pages: PageRecord[]; failures: FailureRecord[] }> {
  return {
    pages: await Array.fromAsync(readJsonLines<PageRecord>(join(dir, 'pages.jsonl'))),
    failures: await Array.fromAsync(readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))),
  }
}

/** Every list is whole, fits its window, and shuts nobody out. */
async function lookAtAll({ page, check }: Opened): Promise<void> {
  const { pages, failures } = await outcome()
  const hosts = new Set([...pages, ...failures].map(({ url }) => new URL(url).hostname))
  const broken = [...pages.filter(({ status }) => status >= 400), ...failures.filter(({ kind }) => kind === 'failed')]
  expect([hosts.size, failures.length, broken.length].every((count) => count > 0)).toBe(true)
  for (const [view, heading, foot] of [
    ['hosts', 'Hosts', `${hosts.size} hosts`],
    ['pages', 'Pages', `${pages.length} pages`],
    ['skipped', 'Failed and skipped', `${failures.length} URLs`],
    ['broken', 'Broken links', `${broken.length} broken links`],
    ['statistics', 'Statistics', null],
    ['changes', 'Changes', null],
    ['events', 'Events', null],
    ['archive', 'Archive files', null],
  ] as const) {
    await goTo(page, `/c/harbour/${view}`, heading)
    if (foot === null) await page.locator('main tr[data-row], main .card').first().waitFor()
    else await page.locator('.endless-foot').getByText(foot, { exact: true }).waitFor()
    await until(page, 'document.querySelector(".loading, .unknown .shade") === null')
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/real-${view}.png` })
    expect(await overhangOf(page), view).toBe(0)
    expect(await check(), view).toEqual([])
  }
}

test('begun, paused, slowed, a domain black-listed after a look, explained, stopped, gone on with and finished', async () => {
  const { opened, end } = await serve(folder)
  const { page } = opened
  const shot = async (name: string): Promise<void> => {
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/real-${name}.png` })
  }
  const state = (word: string): Promise<void> => page.locator('.state', { hasText: word }).first().waitFor()
  const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).first().click()
  const dialog = page.getByRole('dialog')
  const inDialog = async (name: string): Promise<void> => {
    await dialog.getByRole('button', { name, exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  const rate = page.getByLabel('Requests per second at most')

  const unwanted = new URL(web.url(1, 0)).hostname
  const askedOfUnwanted = (): string[] =>
    [...web.log.requests()].filter(({ host }) => host === unwanted).map(({ path }) => path)

  await press('Begin a crawl')
  await page.getByLabel('Seeds').fill(web.seeds(2).join('\n'))
  await page.getByLabel('Follow links within').selectOption('any')
  await page.getByLabel('Rest of a host between two requests').fill(`${DELAY_MS}ms`)
  await page.getByLabel('Pages at most').fill('10,000')
  await page.getByLabel('Name').fill('harbour')
  await page.getByText('More options').click()
  await page
    .getByLabel('As in a configuration file')
    .fill(JSON.stringify({ fetch: { allowPrivate: true }, agent: { agents: 2, maxRate: 3 } }))
  await inDialog('Begin')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  await state('running')
  // When a page is asked for that its root led to, others of them wait.
  while (askedOfUnwanted().filter((path) => path !== '/robots.txt').length < 2) await sleep(20)

  await press('Pause')
  await state('paused')
  const askedWhenPaused = web.log.length
  await shot('paused')

  // While it stands still: another speed, and a domain that is not to be visited.
  await press('Speed')
  expect(await rate.inputValue()).toBe('3')
  await rate.fill('1')
  await inDialog('Set')
  await goTo(page, '/c/harbour/settings', 'Settings')
  await page.getByLabel('Domains to black-list').fill(unwanted)
  await press('Preview')
  await page.getByText(/Skips (at least )?[1-9][\d,]* of [\d,]+ waiting URLs/).waitFor()
  await shot('preview')
  expect(web.log.length - askedWhenPaused).toBeLessThanOrEqual(WEB.hosts)
  await page.getByRole('button', { name: /^Black-list/ }).click()
  await page.getByRole('list', { name: 'Black-listed domains' }).getByText(unwanted).waitFor()
  const askedBefore = askedOfUnwanted().length

  await goTo(page, '/c/harbour/overview', 'Overview')
  // It was opened anew with the change, and still stands.
  await press('Resume')
  await state('running')
  await goTo(page, '/c/harbour/nodes', 'Nodes and agents')
  await page.getByText('Agent 1').first().waitFor()
  await shot('agents')
  await goTo(page, '/c/harbour/pages', 'Pages')
  await page.locator('tr[data-row="0"] a').first().click()
  await page.getByRole('complementary').getByText('It was fetched.').waitFor()
  await shot('explained')

  await goTo(page, '/c/harbour/overview', 'Overview')
  await press('Stop')
  await inDialog('Stop')
  await state('stopped')
  // With the limits it had; and at the speed it had, until that is lifted.
  await press('Start')
  expect(await page.getByLabel('Pages at most').inputValue()).toBe('10,000')
  await inDialog('Start')
  await state('running')
  await press('Speed')
  expect(await rate.inputValue()).toBe('1')
  await rate.fill('')
  await inDialog('Set')
  await state('finished')

  // A finished crawl shows its whole course and what was done to it.
  await page.getByRole('img', { name: /^Pages a second over time/ }).waitFor()
  await shot('finished')
  await lookAtAll(opened)
  await end()

  // Nothing was lost by all that, and nobody was asked too soon.
  const { pages, failures } = await outcome()
  const found = new Set(pages.map(({ url }) => url))
  const isUnwanted = (url: string): boolean => new URL(url).hostname === unwanted
  expect(failures.filter(({ url }) => !isUnwanted(url))).toEqual([])
  expect(askedOfUnwanted().length).toBe(askedBefore)
  const all = web.truth({ seeds: web.seeds(2), scope: 'any' }).pages
  const exclude = [new RegExp(`^http://${unwanted}[:/]`)]
  const wanted = web.truth({ seeds: web.seeds(2), scope: 'any', exclude }).pages
  expect([...wanted.keys()].filter((url) => !found.has(url))).toEqual([])
  expect([...found].filter((url) => !all.has(url))).toEqual([])
  expect(web.politeness({ delayMs: DELAY_MS })).toEqual([])
})

test('the finished crawl is opened by another server, before which nobody had read it', async () => {
  for (const end of ['', '-wal', '-shm']) rmSync(join(dir, `state/catalogue.sqlite${end}`), { force: true })
  const { opened, end } = await serve(dir)
  await opened.page.getByRole('img', { name: /^Pages a second over time/ }).waitFor()
  await lookAtAll(opened)
  await end()
})
