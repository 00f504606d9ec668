// A process that is killed right after a change, or in the middle of one: the change is in force when the crawl goes on, or not at all;
// if it is, it is on record; and nothing is lost by it.

import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loadSettings, readConfig, SECTIONS } from '../../src/config/index.ts'
import { readChanges } from '../../src/control/index.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { joined, requestOf } from './request.ts'
import { runSteered } from './steered-run.ts'

const CHILD = fileURLToPath(new URL('killed-child.ts', import.meta.url))

function killedBy(args: readonly string[]): Promise<NodeJS.Signals | null> {
  const child = spawn(process.execPath, [CHILD, ...args], { stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => void child.on('exit', (_, signal) => resolve(signal)))
}

/** Two of them each time; all where that is asked for. */
const MOMENTS =
  process.env['PORTOLAN_EVERY_MOMENT'] === undefined
    ? ['reopening', 'pending']
    : ['recorded', 'stored', 'reopening', 'pending']

test.for(MOMENTS)('killed when it is %s', { timeout: 120_000 }, async (moment) => {
  // So many pages that at the child's forty a second the crawl cannot end before its change, however busy the machine is.
  const web = await startWeb({ seed: 'killed', hosts: 3, pages: 800, crossHostShare: 0.5 })
  const [seed = '', other = ''] = web.seeds()
  const dir = directory()
  const host = new URL(seed).hostname
  expect(await killedBy([dir, moment, seed, other, host])).toBe('SIGKILL')
  const settings = (await loadSettings(dir)) ?? {}
  const isInForce = JSON.stringify(settings).includes(host)
  expect(isInForce).toBe(moment === 'stored' || moment === 'reopening')
  const { items } = await readChanges(dir, undefined, 10)
  expect(items).toMatchObject([{ who: 'test', what: moment === 'pending' ? 'seeds' : 'settings' }])

  const logged = web.log.length
  const request = requestOf(dir, [], joined(settings, { agent: { maxRate: 10_000 } }))
  expect(
    readConfig(SECTIONS, { flags: new Map(), environment: {}, file: { name: 'it', content: settings } }).kind,
  ).toBe('config')
  const { code, pages, failures } = await runSteered(request, async () => {})
  expect(code).toBe(0)
  expect(existsSync(join(dir, 'state/pending-seeds.json'))).toBe(false)
  const asked = new Set([...web.log.requests(logged)].map((one) => one.host))
  if (isInForce) {
    expect([...asked].filter((one) => one.startsWith(host))).toEqual([])
    expect(failures.every(({ reason }) => reason === 'scope-changed')).toBe(true)
  } else {
    // The hosts of the seeds, and no others.
    const hosts = moment === 'pending' ? 2 : 1
    const expected = [...web.truth().pages.keys()].filter((url) =>
      web.seeds(hosts).some((root) => url.startsWith(root)),
    )
    expect(pages.map(({ url }) => url).toSorted()).toEqual(expected.toSorted())
  }
})
