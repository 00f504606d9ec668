// A crawl steered by the page alone, from its beginning to its end: a real browser, `portolan ui`, the process it starts, and a web whose
// truth and log say whether anything was lost or anybody asked too soon.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readJsonLines, type FailureRecord, type PageRecord } from '../../src/store/index.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { type Running, startPortolan } from '../cli/portolan.ts'
import { goTo, openBrowser, openDashboard, overhangOf, until } from './browser.ts'

const DELAY_MS = 40
const SHOTS = process.env['SHOTS_INTO']

let browser: Browser
let web: TestWeb
let folder: string
let ui: Running
let server: { readonly url: string; readonly token: string }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'portolan-ui-test-'))
  web = await startTestWeb({
    hosts: 6,
    pages: 80,
    meanBytes: 2_000,
    linksPerPage: 8,
    branching: 4,
    crossHostShare: 0.3,
  })
  const pages = join(import.meta.dirname, '../../dist/dashboard/index.html')
  if (!existsSync(pages)) throw new Error('the dashboard is not built: node tools/build-dashboard.js')
  ui = startPortolan(['ui', folder, '--port', '0'], { isFromSources: true })
  const link = await new Promise<string>((resolve, reject) => {
    ui.child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()))
    void ui.finished.then(({ stderr }) => reject(new Error(`portolan ui ended: ${stderr}`)))
  })
  const { origin, hash } = new URL(link)
  server = { url: `${origin}/`, token: hash.replace('#token=', '') }
  browser = await openBrowser()
  if (SHOTS !== undefined && !existsSync(SHOTS)) mkdirSync(SHOTS, { recursive: true })
})

afterAll(async () => {
  await browser?.close()
  ui?.child.kill('SIGINT')
  expect((await ui?.finished)?.code).toBe(0)
  endCrawl()
  await web?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** It outlives the server that began it: where the test failed it may still run. */
function endCrawl(): void {
  const note = join(folder, 'harbour/state/control.json')
  if (!existsSync(note)) return
  try {
    process.kill((JSON.parse(readFileSync(note, 'utf8')) as { pid: number }).pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

// `npm run page`: a crawl that ends before it is stopped makes it wait in vain, so it is not in every run yet.
test.runIf(process.env['STEERED_PAGE'] !== undefined)(
  'begun, paused, slowed, a domain black-listed after a look, explained, stopped, gone on with and finished',
  async () => {
    const opened = await openDashboard(browser, server)
    const { page } = opened
    const shot = async (name: string): Promise<void> => {
      if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/real-${name}.png` })
    }
    const state = (word: string): Promise<void> => page.locator('.state', { hasText: word }).first().waitFor()
    const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).first().click()

    const unwanted = new URL(web.url(3, 0)).hostname
    const askedOfUnwanted = (): number => [...web.log.requests()].filter(({ host }) => host === unwanted).length

    await press('Begin a crawl')
    await page.getByLabel('Seeds').fill(web.seeds(2).join('\n'))
    await page.getByLabel('Follow links within').selectOption('any')
    await page.getByLabel('Rest of a host between two requests').fill(`${DELAY_MS}ms`)
    await page.getByLabel('Name').fill('harbour')
    await page.getByText('More options').click()
    await page
      .getByLabel('As in a configuration file')
      .fill(JSON.stringify({ fetch: { allowPrivate: true }, agent: { agents: 2 } }))
    await press('Begin')
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await state('running')

    await press('Pause')
    await state('paused')
    const askedWhenPaused = web.log.length
    await shot('paused')

    // While it stands still: another speed, and a domain that is not to be visited.
    await press('Speed')
    await page.getByLabel('Requests per second at most').fill('400')
    await press('Set')
    await page.getByText('It holds from now on.').first().waitFor()
    await goTo(page, '/c/harbour/settings', 'Settings')
    await page.getByLabel('Domains to black-list').fill(unwanted)
    await press('Preview')
    await page.getByText(/Skips (at least )?[\d,]+ of [\d,]+ waiting URLs/).waitFor()
    await shot('preview')
    expect(web.log.length - askedWhenPaused).toBeLessThanOrEqual(6)
    await page.getByRole('button', { name: /^Black-list/ }).click()
    await page.getByRole('list', { name: 'Black-listed domains' }).getByText(unwanted).waitFor()
    const askedBefore = askedOfUnwanted()

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
    await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click()
    await state('stopped')
    await press('Start')
    await page.locator('.state', { hasText: 'finished' }).first().waitFor({ timeout: 120_000 })

    // A finished crawl shows its whole course and what was done to it.
    await page.getByRole('img', { name: /^Pages a second over time/ }).waitFor()
    await shot('finished')
    for (const [view, heading] of [
      ['hosts', 'Hosts'],
      ['skipped', 'Failed and skipped'],
      ['broken', 'Broken links'],
      ['statistics', 'Statistics'],
      ['changes', 'Changes'],
      ['events', 'Events'],
      ['archive', 'Archive files'],
    ] as const) {
      await goTo(page, `/c/harbour/${view}`, heading)
      await page.locator('main table tbody tr, main .card').first().waitFor()
      await until(page, 'document.querySelector(".loading, .unknown .shade") === null')
      await shot(view)
      expect(await overhangOf(page), view).toBe(0)
      expect(await opened.check(), view).toEqual([])
    }
    expect(opened.complaints).toEqual([])
    expect(opened.strangers).toEqual([])
    await opened.close()

    // Nothing was lost by all that, and nobody was asked too soon.
    const dir = join(folder, 'harbour')
    const pages = new Set<string>()
    for await (const { url } of readJsonLines<PageRecord>(join(dir, 'pages.jsonl'))) pages.add(url)
    const skipped = new Set<string>()
    for await (const { url } of readJsonLines<FailureRecord>(join(dir, 'failures.jsonl'))) skipped.add(url)
    const isUnwanted = (url: string): boolean => new URL(url).hostname === unwanted
    expect([...skipped].filter((url) => !isUnwanted(url))).toEqual([])
    expect(askedOfUnwanted()).toBe(askedBefore)
    const all = web.truth({ seeds: web.seeds(2), scope: 'any' }).pages
    const wanted = web.truth({
      seeds: web.seeds(2),
      scope: 'any',
      exclude: [new RegExp(`^http://${unwanted}[:/]`)],
    }).pages
    expect([...wanted.keys()].filter((url) => !pages.has(url))).toEqual([])
    expect([...pages].filter((url) => !all.has(url))).toEqual([])
    expect(web.politeness({ delayMs: DELAY_MS })).toEqual([])
  },
)
