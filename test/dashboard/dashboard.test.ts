// The dashboard in a real browser, against a server that makes everything up: every view opens for everybody, and what is done arrives.

import { existsSync, mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROUTES, type RouteName } from '../../src/control/api.ts'
import { goTo, openBrowser, openDashboard, overhangOf, until } from './browser.ts'
import { answerFake } from './fake-answers.ts'
import { FakeCrawl, HOSTILE_TITLES, pageAt } from './fake-crawl.ts'
import { type FakeServer, startFakeServer } from './fake-server.ts'

const VIEWS = [
  ['overview', 'Overview'],
  ['hosts', 'Hosts'],
  ['hosts/www.example.org', 'Hosts'],
  ['pages', 'Pages'],
  [`pages/${encodeURIComponent(pageAt(2).url)}`, 'Pages'],
  ['broken', 'Broken links'],
  ['skipped', 'Failed and skipped'],
  ['statistics', 'Statistics'],
  ['nodes', 'Nodes and agents'],
  ['settings', 'Settings'],
  ['events', 'Events'],
  ['changes', 'Changes'],
  ['archive', 'Archive files'],
] as const

/** Where pictures of all views go, if anybody wants to look at them. */
const SHOTS = process.env['SHOTS_INTO']

let browser: Browser
let server: FakeServer
let files: string

beforeAll(async () => {
  // What is tested is what stands here, not what was built some time ago.
  files = await mkdtemp(join(tmpdir(), 'portolan-dashboard-'))
  const configFile = fileURLToPath(new URL('../../dashboard/vite.config.ts', import.meta.url))
  await build({ configFile, build: { outDir: files } })
  server = await startFakeServer({ files })
  browser = await openBrowser()
  if (SHOTS !== undefined && !existsSync(SHOTS)) mkdirSync(SHOTS, { recursive: true })
})

afterAll(async () => {
  await browser?.close()
  await server?.close()
  await rm(files, { recursive: true, force: true })
})

function sampleAt(t: number, pages: number): ReturnType<FakeCrawl['samples']>[number] {
  const nothing = { failed: 0, skipped: 0, waiting: 0, hosts: 1, active: 0, rssBytes: 1, cpuSeconds: 1 }
  return { t, pages, bytes: pages, ...nothing }
}

const settled = async (page: Page): Promise<void> => {
  await until(page, 'document.querySelector(".loading, .unknown .shade") === null')
}

/** Text that is cut although it has room to go on: what is told by it could not be read. URLs and titles of rows are cut by design. */
const CUT = `[...document.querySelectorAll('main th, main td, main .pill, main button, main dt, main dd, main label, main option')]
  .filter((one) => one.checkVisibility() && one.closest('.hidden, .stacked thead') === null && one.querySelector('.row-link') === null)
  .filter((one) => one.scrollWidth > one.clientWidth && getComputedStyle(one).overflowX !== 'visible')
  .map((one) => one.textContent)`

async function throughAllViews(name: string, looks: { width?: number; theme?: 'light' | 'dark' }): Promise<void> {
  const { page, complaints, strangers, check, close } = await openDashboard(browser, server, {
    ...looks,
    path: '/?all=1',
  })
  await page.getByRole('link', { name: 'north' }).waitFor()
  const found: string[] = []
  const look = async (view: string): Promise<void> => {
    await settled(page)
    if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/${view.replace(/\/.*/, '-detail')}-${name}.png` })
    const overhang = await overhangOf(page)
    if (overhang > 0) found.push(`${view} is ${overhang} pixels too wide`)
    // Views scroll within the frame: a page longer than the window could be scrolled to nothing.
    const beyond = await page.evaluate<number>('document.documentElement.scrollHeight - innerHeight')
    if (beyond > 0) found.push(`${view} makes the page ${beyond} pixels too long`)
    for (const text of await page.evaluate<string[]>(CUT)) found.push(`${view} cuts '${text}'`)
    for (const barrier of await check()) found.push(`${view}: ${barrier}`)
  }
  await look('crawls')
  for (const [view, heading] of VIEWS) {
    await goTo(page, `/c/north/${view}`, heading)
    await look(view)
  }
  expect(found).toEqual([])
  expect(complaints).toEqual([])
  expect(strangers).toEqual([])
  // And the check can find something.
  await page.evaluate(`document.querySelector('main').append(Object.assign(new Image(), { src: './icon.svg' }))`)
  expect((await check()).join()).toContain('image-alt')
  await close()
}

test('every view opens in the light, shuts nobody out, asks nobody else and complains of nothing', () =>
  throughAllViews('light', { theme: 'light' }))

test('so it does in the dark', () => throughAllViews('dark', { theme: 'dark' }))

test('380 pixels are enough, in the light', () => throughAllViews('narrow-light', { theme: 'light', width: 380 }))

test('380 pixels are enough, in the dark', () => throughAllViews('narrow', { theme: 'dark', width: 380 }))

test('on a narrow screen a dialog is as on a wide one: its buttons are not those of the view', async () => {
  const { page, check, close } = await openDashboard(browser, server, { path: '/c/north/overview', width: 380 })
  for (const name of ['Speed', 'Add seeds', 'Checkpoint', 'Stop']) {
    await page.getByRole('button', { name, exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    expect(await overhangOf(page), name).toBe(0)
    expect(await check(), name).toEqual([])
    const closing = await dialog.getByRole('button', { name: 'Close' }).boundingBox()
    const whole = await dialog.boundingBox()
    expect(closing!.width, name).toBeLessThan(48)
    expect(whole!.x + whole!.width - closing!.x - closing!.width, name).toBeLessThan(24)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  await close()
})

test('a crawl that was over at once says so instead of empty charts, and one is one', async () => {
  const brief = new FakeCrawl('brief', 'finished', false)
  brief.samples = () => [sampleAt(0, 0), sampleAt(2, 1)]
  server.crawls.push(brief)
  const { page, complaints, close } = await openDashboard(browser, server, { path: '/c/brief/overview' })
  await page.getByText('over too soon').waitFor()
  expect(await page.locator('.plot').count()).toBe(0)
  // What cannot be done to a crawl at rest is not offered.
  await goTo(page, '/c/brief/nodes', 'Nodes and agents')
  await page.getByText('Agent 0').first().waitFor()
  expect(await page.getByRole('button', { name: /^Speed of agent/ }).count()).toBe(0)
  await goTo(page, '/c/brief/settings', 'Settings')
  await page.getByText('next start', { exact: true }).first().waitFor()
  expect(await page.getByText('reopens it', { exact: true }).count()).toBe(0)
  expect(complaints).toEqual([])
  server.crawls.splice(server.crawls.indexOf(brief), 1)
  await close()
})

test('a hostile title is text, wherever it is shown', async () => {
  const { page, complaints, close } = await openDashboard(browser, server, { path: '/c/north/pages' })
  await settled(page)
  for (const title of HOSTILE_TITLES.slice(0, 2)) await page.getByText(title, { exact: true }).first().waitFor()
  // What would turn the rest of the line around is visible instead.
  await page.getByText('invoice \uFFFDfdp.exe\uFFFD of May').first().waitFor()
  expect(await page.locator('main img, main script').count()).toBe(0)
  expect(
    await page.evaluate<number>(
      'Math.max(...[...document.querySelectorAll("td")].map((cell) => cell.textContent.length))',
    ),
  ).toBeLessThan(1_000)
  await page.getByText(HOSTILE_TITLES[0]!).first().click()
  const detail = page.getByRole('complementary')
  await detail.getByText(HOSTILE_TITLES[0]!, { exact: true }).waitFor()
  const link = detail.locator('h2 a')
  expect(await link.getAttribute('rel')).toBe('noreferrer noopener')
  await goTo(page, `/c/north/pages/${encodeURIComponent('javascript:alert(1)')}`, 'Pages')
  await detail.getByText('never-met').waitFor()
  expect(await page.locator('a[href^="javascript"]').count()).toBe(0)
  expect(complaints).toEqual([])
  await close()
})

test('a million pages are scrolled through while few rows exist', async () => {
  const { page, complaints, close } = await openDashboard(browser, server, { path: '/c/north/pages' })
  await page.getByText('1,000,000 pages').waitFor()
  let last = -1
  for (let round = 0; round < 12; round++) {
    await page.evaluate(`{ const box = document.querySelector('.endless-box'); box.scrollTo(0, box.scrollHeight) }`)
    await until(
      page,
      `Math.max(...[...document.querySelectorAll('tr[data-row]')].map((row) => Number(row.dataset.row))) > ${last}`,
    )
    await settled(page)
    last = await page.evaluate<number>(
      `Math.max(...[...document.querySelectorAll('tr[data-row]')].map((row) => Number(row.dataset.row)))`,
    )
  }
  expect(last).toBeGreaterThan(1_000)
  expect(await page.locator('tbody tr').count()).toBeLessThan(60)
  // And back: what was forgotten is asked for again.
  await page.evaluate(`document.querySelector('.endless-box').scrollTo(0, 0)`)
  await page.locator('tr[data-row="0"]').waitFor()
  // By keyboard from row to row.
  await page.locator('tr[data-row="0"] a').focus()
  await page.keyboard.press('ArrowDown')
  expect(await page.evaluate('document.activeElement.closest("tr").dataset.row')).toBe('1')
  expect(complaints).toEqual([])
  await close()
})

test('pages are found by status and words, hosts by name and order', async () => {
  const { page, close } = await openDashboard(browser, server, { path: '/c/north/pages' })
  await page.getByLabel('Status').selectOption('404')
  await until(page, `[...document.querySelectorAll('tr[data-row] .pill')].every((pill) => pill.textContent === '404')`)
  await page.getByLabel('Words of the title').fill('harbour')
  await until(
    page,
    `location.hash.includes('text=harbour') && document.querySelectorAll('tr[data-row]').length > 3 && [...document.querySelectorAll('tr[data-row]')].every((row) => /harbour/i.test(row.textContent))`,
  )
  await goTo(page, '/c/north/hosts', 'Hosts')
  await page.getByText('5,000 hosts').waitFor()
  await page.getByRole('button', { name: 'Errors' }).click()
  await page.locator('th[aria-sort="descending"]', { hasText: 'Errors' }).waitFor()
  await page.getByLabel('Name contains').fill('xn--')
  await page.getByText('1 host', { exact: true }).waitFor()
  await close()
})

test('while the catalogue is read a list says how far, and shows what is found as soon as it is there', async () => {
  const atlas = server.crawls.find(({ id }) => id === 'atlas')!
  atlas.readShare = 0.42
  const { page, complaints, check, close } = await openDashboard(browser, server, { path: '/c/atlas/hosts' })
  await page.getByText('Reading … 42').waitFor()
  expect(await page.getByText('No hosts').count()).toBe(0)
  expect(await check()).toEqual([])
  atlas.readShare = 0.77
  await page.getByText('Reading … 77').waitFor()
  atlas.readShare = 1
  await page.getByText('5,000 hosts').waitFor()
  await page.locator('tr[data-row="0"]').waitFor()
  expect(complaints).toEqual([])
  await close()
})

test('by keyboard alone: paused, resumed, slowed, and stopped only after a question', async () => {
  const { page, complaints, close } = await openDashboard(browser, server, { path: '/c/north/overview' })
  const press = async (name: string): Promise<void> => {
    // One that is at work has no focus to give.
    const button = page.getByRole('button', { name, exact: true, disabled: false })
    await button.focus()
    await page.keyboard.press('Enter')
  }
  await page.keyboard.press('Tab')
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
  await press('Pause')
  await page.locator('.state', { hasText: 'paused' }).waitFor()
  await press('Resume')
  await page.locator('.state', { hasText: 'running' }).waitFor()
  await press('Speed')
  await page.getByLabel('Requests per second at most').focus()
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(server.asked).toContain('speed {"ratePerSecond":5,"bytesPerSecond":null}')
  await press('Stop')
  await page.getByText('keep waiting').waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Stop')
  expect(server.asked.some((asked) => asked.startsWith('stop'))).toBe(false)
  expect(complaints).toEqual([])
  await close()
})

test('a domain is black-listed after a look at what it hits, an option is changed, and a wrong value is named at its field', async () => {
  const { page, check, close } = await openDashboard(browser, server, { path: '/c/north/settings' })
  await page.getByLabel('Domains to black-list').fill('https://tracker.example.org/x')
  await page.getByRole('button', { name: 'Preview' }).click()
  await page.getByText('Skips 1,234 of 56,789 waiting URLs').waitFor()
  await page.getByRole('button', { name: 'Black-list', exact: true }).click()
  await page.getByRole('list', { name: 'Black-listed domains' }).getByText('tracker.example.org').waitFor()
  expect(server.asked.at(-1)).toContain(String.raw`tracker\\.example\\.org`)
  await page.getByRole('button', { name: 'Change frontier.delay' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('frontier.delay').fill('soon')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await dialog.getByText('is a duration, like 250ms or 2s').waitFor()
  expect(await dialog.getByLabel('frontier.delay').getAttribute('aria-invalid')).toBe('true')
  expect(await check()).toEqual([])
  await dialog.getByLabel('frontier.delay').fill('4s')
  await dialog.getByRole('button', { name: 'Apply' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.locator('.value.said', { hasText: '4s' }).waitFor()
  await close()
})

test('a host is slowed down by a rule of its own, a node is drained', async () => {
  const { page, close } = await openDashboard(browser, server, { path: '/c/north/hosts/www.example.org' })
  await page.getByRole('button', { name: 'Slow down this host' }).click()
  await page.getByLabel('Rest between two requests').fill('30s')
  await page.getByRole('button', { name: 'Slow down', exact: true }).click()
  await page.getByText('The settings are changed.').waitFor()
  expect(server.asked).toContain('set {"options":{"frontier":{"rules":[{"hosts":["www.example.org"],"delay":"30s"}]}}}')
  await goTo(page, '/c/north/nodes', 'Nodes and agents')
  await page.getByRole('button', { name: 'Drain lighthouse' }).click()
  await page.getByText('draining').waitFor()
  await page.getByRole('img', { name: /lighthouse holds 4/ }).waitFor()
  await close()
})

test('a crawl is begun, and what is wrong with it stands at its field', async () => {
  const { page, close } = await openDashboard(browser, server)
  await page.getByRole('button', { name: 'Begin a crawl' }).click()
  await page.getByLabel('Seeds').fill('nonsense')
  await page.getByRole('button', { name: 'Begin', exact: true }).click()
  await page.getByText(`line 1: 'nonsense' is not a URL`).waitFor()
  // The focus follows what is said, a moment later.
  await page.waitForFunction('document.activeElement.value === "nonsense"')
  await page.getByLabel('Seeds').fill('https://begun.example/')
  await page.getByLabel('Pages at most').fill('1,000')
  await page.getByText('More options').click()
  await page.getByLabel('As in a configuration file').fill('{ "fetch": { "allowPrivate": true } }')
  await page.getByRole('button', { name: 'Begin', exact: true }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(server.asked.at(-1)).toContain('"maxPages":1000')
  expect(server.asked.at(-1)).toContain('"fetch":{"allowPrivate":true}')
  expect(page.url()).toContain('begun.example')
  await close()
})

test('the token leaves the address, outlives a reload, and is asked for when it is not known', async () => {
  const { page, close } = await openDashboard(
    browser,
    { url: server.url, token: 'wrong' },
    { path: '/c/atlas/overview' },
  )
  await page.getByRole('heading', { name: 'This token is not known' }).waitFor()
  expect(page.url()).not.toContain('wrong')
  await page.getByLabel('Token').fill(`${server.url}#token=${server.token}`)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  expect(page.url()).not.toContain(server.token)
  await page.reload()
  // A finished crawl has its course, and can be looked at like any other.
  await page.getByRole('img', { name: /^Pages a second over time/ }).waitFor()
  await page.locator('.state', { hasText: 'finished' }).waitFor()
  await close()
})

test('what happens is shown as it happens, also after the connection broke; nothing is asked while nobody looks', async () => {
  const { page, close } = await openDashboard(browser, server, { path: '/c/north/events' })
  await page.getByText('What happens, as it happens.').waitFor()
  server.crawls[0]!.tell('warning', 'a first <i>squall</i>')
  await page.getByText('a first <i>squall</i>').waitFor()
  server.breakStreams()
  await page.getByText('Connection lost').click()
  await page.getByText('What happens, as it happens.').waitFor()
  server.crawls[0]!.tell('warning', 'a second squall')
  await page.getByText('a second squall').waitFor()
  const hide = (isHidden: boolean): Promise<unknown> =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true }); document.dispatchEvent(new Event('visibilitychange'))`,
    )
  await hide(true)
  await expect.poll(() => server.streams()).toBe(0)
  await hide(false)
  await expect.poll(() => server.streams()).toBe(1)
  await close()
})

test('light or dark is chosen here, and remembered', async () => {
  const { page, close } = await openDashboard(browser, server, { path: '/c/atlas/changes', theme: 'light' })
  const ground = (): Promise<string> => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
  const light = await ground()
  await page.getByRole('button', { name: 'Theme: as the system' }).click()
  expect(await ground()).toBe(light)
  await page.getByRole('button', { name: 'Theme: light' }).click()
  expect(await ground()).not.toBe(light)
  await page.reload()
  await page.getByRole('button', { name: 'Theme: dark' }).waitFor()
  expect(await ground()).not.toBe(light)
  await close()
})

test('what the made-up server says is what the API may say', () => {
  const crawls = [new FakeCrawl('north', 'running', true)]
  const asked: Partial<Record<RouteName, Record<string, unknown>>> = {
    create: { seeds: ['https://a.test/'], options: { frontier: { delay: '1s' } } },
    host: { host: 'www.example.org' },
    explain: { url: pageAt(2).url },
    nodeAction: { node: 'harbour', action: 'drain' },
    nodeWeight: { node: 'harbour', weight: 2 },
    addSeeds: { seeds: ['https://a.test/'] },
    preview: { options: {} },
    set: { options: {} },
  }
  for (const [name, route] of Object.entries(ROUTES)) {
    const answer: unknown = answerFake(name as RouteName, { crawl: 'north', ...asked[name as RouteName] }, crawls)
    expect(route.answer.safeParse(answer).error, name).toBeUndefined()
  }
})
