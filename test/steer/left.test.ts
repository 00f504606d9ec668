// A crawl that is steered and whose process is killed: its guard starts it again as it was left, paused and at its speed, against what its
// arguments say; whoever starts it by hand wants it to go on, and is told that it was paused.

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { type ControlClient, controlSocketOf, createClient } from '../../src/control/index.ts'
import { startTestWeb, type TestWeb } from '../../testweb/index.ts'
import { type Running, startPortolan } from '../cli/portolan.ts'
import { directory } from '../crawl/expect-truth.ts'

const FLAGS = ['--allow-private', '--delay', '0ms', '--agents', '2', '--progress', 'plain', '--warc', 'none']
const ONE = { crawl: 'out' }

interface Stand {
  readonly web: TestWeb
  readonly dir: string
}

async function stand(): Promise<Stand> {
  const web = await startTestWeb({ seed: 'left', hosts: 4, pages: 40, crossHostShare: 0.5 })
  onTestFinished(() => web.stop())
  return { web, dir: join(directory(), 'out') }
}

function start({ dir }: Stand, args: readonly string[]): Running {
  const running = startPortolan(['crawl', ...args, '--dir', dir])
  onTestFinished(() => void running.child.kill('SIGKILL'))
  return running
}

/** The process that crawls, once it is another one than `before` and answers. */
async function answering(
  { dir }: Stand,
  before = 0,
): Promise<{ readonly pid: number; readonly client: ControlClient }> {
  for (;;) {
    const file = join(dir, 'state/pid')
    const pid = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
    const way = pid === 0 || pid === before ? null : await controlSocketOf(dir, pid)
    const client = way === null ? null : createClient(way, { who: 'test' })
    const isThere = await client?.call('crawl', ONE).catch(() => null)
    if (client !== null && isThere != null) return { pid, client }
    await sleep(10)
  }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(10)
}

/** As the agents tell it, some moments after it was set. */
async function ratesBecome(client: ControlClient, rates: readonly number[]): Promise<void> {
  await until(async () => {
    const { agents } = await client.call('agents', ONE)
    return JSON.stringify(agents.map(({ speed }) => speed.ratePerSecond)) === JSON.stringify(rates)
  })
}

test('under guard: paused, slowed and changed, killed: it stays so, until it is resumed', async () => {
  const on = await stand()
  const { finished } = start(on, [
    ...FLAGS,
    '--guard',
    '--max-rate',
    '40',
    '--max-depth',
    '90',
    on.web.seeds()[0] ?? '',
  ])
  const first = await answering(on)
  await until(() => on.web.log.length > 5)
  await first.client.call('pause', ONE)
  // All of these are said by the arguments too, or belong to one run.
  await first.client.call('speed', ONE, { ratePerSecond: 30 })
  await first.client.call('speed', ONE, { agent: 1, ratePerSecond: 7 })
  await first.client.call('set', ONE, { options: { url: { maxDepth: 80 }, agent: { maxPages: 10_000 } } })
  process.kill(first.pid, 'SIGKILL')

  const second = await answering(on, first.pid)
  const asked = on.web.log.length
  const { state, limits, figures } = await second.client.call('crawl', ONE)
  expect([state, limits?.ratePerSecond, limits?.maxPages]).toEqual(['paused', 30, 10_000])
  await ratesBecome(second.client, [15, 7])
  const { settings } = await second.client.call('settings', ONE)
  expect(settings.find(({ name }) => name === 'url.maxDepth')?.value).toBe(80)
  await until(async () => (await second.client.call('crawl', ONE)).now?.active === 0)
  expect([on.web.log.length, (await second.client.call('crawl', ONE)).figures.pages]).toEqual([asked, figures.pages])
  const told = (await second.client.call('events', ONE)).items.map(({ text }) => text)
  expect(told).toContain('It was paused, and stays so until somebody resumes it.')

  await second.client.call('speed', ONE, { ratePerSecond: null })
  await second.client.call('resume', ONE)
  const { code, stderr } = await finished
  expect(code, stderr).toBe(0)
  const urls = readFileSync(join(on.dir, 'pages.jsonl'), 'utf8').trim().split('\n')
  const truth = on.web.truth({ seeds: on.web.seeds().slice(0, 1), scope: 'host' })
  expect(urls.map((line) => (JSON.parse(line) as { url: string }).url).sort()).toEqual([...truth.pages.keys()].sort())
})

test('by hand: a pause ends with its process and is told, speeds stay until the command says others', async () => {
  const on = await stand()
  start(on, [...FLAGS, '--max-rate', '40', ...on.web.seeds()])
  const first = await answering(on)
  await first.client.call('speed', ONE, { ratePerSecond: 20 })
  await first.client.call('speed', ONE, { agent: 0, ratePerSecond: 3 })
  await first.client.call('pause', ONE)
  process.kill(first.pid, 'SIGKILL')

  const going = start(on, [])
  const second = await answering(on, first.pid)
  expect((await second.client.call('crawl', ONE)).state).toBe('running')
  await ratesBecome(second.client, [3, 10])
  await second.client.call('stop', ONE)
  expect((await going.finished).stderr).toContain('It was paused when it ended, and goes on now.')

  start(on, ['--max-rate', '50'])
  const third = await answering(on, second.pid)
  await ratesBecome(third.client, [25, 25])
  const told = (await third.client.call('events', ONE)).items.map(({ text }) => text)
  expect(told.filter((text) => text.startsWith('It was paused'))).toHaveLength(1)
  await third.client.call('stop', ONE)
})

test('a speed that no crawl can have is refused by the name it was given', async () => {
  const on = await stand()
  start(on, [...FLAGS, '--max-rate', '5', ...on.web.seeds()])
  const { client } = await answering(on)
  const refused = client.call('speed', ONE, { ratePerSecond: 0.001, bytesPerSecond: 5 })
  const fields = [{ where: 'ratePerSecond' }, { where: 'bytesPerSecond' }]
  await expect(refused).rejects.toMatchObject({ status: 400, fields })
  await client.call('stop', ONE)
})
