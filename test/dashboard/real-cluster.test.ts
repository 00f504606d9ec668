// A crawl of two real nodes over a real NATS server, steered by the page alone: paused, a node drained and brought back, an option changed
// after a look, a seed added, and let go on to its end. It is paused while all that is done, and so slow before, that it cannot end meanwhile.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startPortolan } from '../cli/portolan.ts'
import { checkPoliteness } from '../../testweb/index.ts'
import { judgeCluster } from '../cluster/judge-cluster.ts'
import { RealCluster } from '../cluster/real-cluster.ts'
import { goTo, openBrowser, openDashboard } from './browser.ts'

const SHOTS = process.env['SHOTS_INTO']
/** Forty pages of a host take two minutes: a slow machine still finds the crawl running when it comes to pausing it. */
const SLOW_MS = 3_000
/** What the page makes of it. */
const FAST_MS = 80

test(
  'a cluster is steered by the page: paused, drained, changed, given a seed, and finished',
  { timeout: 600_000 },
  async () => {
    const pages = join(import.meta.dirname, '../../dist/dashboard/index.html')
    if (!existsSync(pages)) throw new Error('the dashboard is not built: node tools/build-dashboard.js')
    await using cluster = await RealCluster.start({
      // No host links to another: what a seed brings is brought by nothing else.
      web: { hosts: 5, pages: 40, meanBytes: 1_000, linksPerPage: 6, crossHostShare: 0 },
      seeds: 4,
      shares: 4,
      leaseMs: 5_000,
      delayMs: SLOW_MS,
    })
    // So that nothing is a race against its end.
    await cluster.command('pause')
    for (const name of ['a', 'b']) cluster.start(name)
    await cluster.settled()
    const ui = startPortolan(['ui', '--nats', cluster.nats.urls[0] ?? '', '--crawl', cluster.crawl, '--port', '0'], {
      isFromSources: true,
    })
    const link = await new Promise<string>((resolve, reject) => {
      ui.child.stdout?.once('data', (text: Buffer) => resolve(text.toString().trim()))
      void ui.finished.then(({ stderr }) => reject(new Error(`portolan ui ended: ${stderr}`)))
    })
    const { origin, hash } = new URL(link)
    const browser = await openBrowser()
    try {
      const opened = await openDashboard(browser, { url: `${origin}/`, token: hash.replace('#token=', '') })
      const { page } = opened
      const to = (view: string, heading: string): Promise<void> => goTo(page, `/c/${cluster.crawl}/${view}`, heading)
      const press = (name: string): Promise<void> => page.getByRole('button', { name, exact: true }).first().click()
      const state = (word: string): Promise<void> => page.locator('.state', { hasText: word }).first().waitFor()
      const row = (node: string) =>
        page
          .getByRole('table', { name: 'Nodes' })
          .getByRole('row')
          .filter({ hasText: new RegExp(`^${node}`) })
      const shot = async (name: string): Promise<void> => {
        if (SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/cluster-${name}.png` })
      }
      const asked = (): number => cluster.web.log.length

      await to('overview', 'Overview')
      await state('paused')
      await press('Resume')
      await state('running')
      await cluster.asked(6)
      await press('Pause')
      await state('paused')
      expect(checkPoliteness([...cluster.web.log.requests()], { delayMs: SLOW_MS })).toEqual([])

      await to('nodes', 'Nodes and agents')
      await row('b').getByText('working').waitFor()
      await press('Drain b')
      await row('b').getByText('drained').waitFor()
      await cluster.until('b to have nothing', () => cluster.node('b').shares.size === 0)
      await cluster.until('a to have everything', () => cluster.node('a').shares.size === 4)
      await shot('drained')
      expect(await opened.check()).toEqual([])
      await press('Resume b')
      await row('b').getByText('working').waitFor()
      await cluster.until('b to have shares', () => cluster.node('b').shares.size > 0)
      await cluster.settled()

      // An option of what waits is looked at first; one of manners is only changed.
      await to('settings', 'Settings')
      await page.getByLabel('Domains to black-list').fill(new URL(cluster.web.url(0, 0)).hostname)
      await press('Preview')
      await page.getByText(/Skips [\d,]+ of [\d,]+ waiting URLs/).waitFor()
      await shot('preview')
      await press('Change frontier.delay')
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('frontier.delay').fill(`${FAST_MS}ms`)
      await dialog.getByRole('button', { name: 'Apply', exact: true }).click()
      await page
        .getByText(/change 1 holds|Change 1 is made/)
        .first()
        .waitFor()
      for (const name of ['a', 'b']) {
        await cluster.until(`${name} to have it`, () =>
          cluster.node(name).said.some(({ line }) => line.includes('Change 1 of the crawl holds')),
        )
      }

      await to('overview', 'Overview')
      const seed = cluster.web.seeds(5).at(-1) ?? ''
      await press('Add seeds')
      await dialog.getByLabel('Seeds').fill(seed)
      await dialog.getByRole('button', { name: 'Add', exact: false }).last().click()
      await page.getByText('1 seed added').first().waitFor()
      cluster.seeds.push(seed)
      await shot('seeded')

      const before = asked()
      await press('Resume')
      await cluster.finished()
      expect(asked()).toBeGreaterThan(before)
      await state('finished')
      await to('changes', 'Changes')
      for (const what of ['pause', 'drain', 'resume', 'settings', 'seeds']) {
        await page.getByRole('table').getByText(what, { exact: true }).first().waitFor()
      }
      await shot('changes')
      expect(opened.complaints).toEqual([])
      expect(opened.strangers).toEqual([])
      const verdict = await judgeCluster(cluster, { delayMs: FAST_MS })
      expect(verdict.problems, cluster.story()).toEqual([])
      expect(verdict.pages).toBeGreaterThan(150)
    } finally {
      await browser.close()
      ui.child.kill('SIGINT')
      await ui.finished
    }
  },
)
