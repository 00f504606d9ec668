// The dashboard in a real browser: Debian's Chromium, driven from here. Whatever it says on its console, breaks, or asks of anybody but the
// server at hand is noted.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'

const CHROMIUM = '/usr/bin/chromium'
const WAIT_MS = 20_000
const AXE = fileURLToPath(import.meta.resolve('axe-core/axe.min.js'))

export interface Looks {
  /** Of the dashboard: '/c/CRAWL/pages'. */
  readonly path?: string
  readonly width?: number
  readonly height?: number
  readonly theme?: 'light' | 'dark'
}

export interface Opened {
  readonly page: Page
  /** Errors and warnings of the console, and what was thrown. */
  readonly complaints: string[]
  /** Requests to anybody else. */
  readonly strangers: string[]
  /** By axe-core: what shuts somebody out. */
  readonly check: () => Promise<string[]>
  readonly close: () => Promise<void>
}

export function openBrowser(): Promise<Browser> {
  // Root has no sandbox to go into.
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--disable-gpu', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
  })
}

/** A window of its own: other storage, other token. */
export async function openDashboard(
  browser: Browser,
  server: { readonly url: string; readonly token: string | null },
  { path = '', width = 1280, height = 860, theme = 'light' }: Looks = {},
): Promise<Opened> {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: 'reduce',
    bypassCSP: false,
  })
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  const complaints: string[] = []
  const strangers: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => void complaints.push(String(error)))
  page.on('request', (request) => {
    if (!request.url().startsWith(server.url)) strangers.push(request.url())
  })
  // A page that alerts has run what it must not run.
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  const fragment = server.token === null ? path : `token=${server.token}${path === '' ? '' : `&${path}`}`
  await page.goto(`${server.url}#${fragment}`)
  return {
    page,
    complaints,
    strangers,
    check: () => accessibilityOf(page),
    close: () => context.close(),
  }
}

/** To another view, by the address, as a bookmark does. */
export async function goTo(page: Page, path: string, heading: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(path)}`)
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
}

/** Until an expression is true in the page: looked at from outside, since its policy lets nobody evaluate text within. */
export async function until(page: Page, expression: string): Promise<void> {
  const endMs = performance.now() + WAIT_MS
  while (!(await page.evaluate<boolean>(expression))) {
    if (performance.now() > endMs) throw new Error(`never became true: ${expression}`)
    await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))')
  }
}

async function accessibilityOf(page: Page): Promise<string[]> {
  // Beside the policy of the page, which allows no foreign script: evaluated by the browser's own hand.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(readFileSync(AXE, 'utf8'))
  return page.evaluate<
    string[]
  >(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => id + ' ' + target.join(' ') + ': ' + failureSummary.replaceAll('\\n', ' '))))`)
}

/** How far the page is wider than the window: what nobody should have to scroll. */
export function overhangOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    'Math.max(document.documentElement.scrollWidth, ...[...document.querySelectorAll("main, .endless-box, dialog[open]")].map((one) => one.scrollWidth - one.clientWidth + innerWidth)) - innerWidth',
  )
}
