// portolan ui, from the front door: a crawl at rest answered from its files, begun, run by a process of its own and steered through its
// socket, and at rest again.

import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { runUi, uiCommand } from '../../src/cli/ui.ts'
import { ROUTES } from '../../src/control/api.ts'
import {
  type ControlClient,
  createClient,
  type CrawlInfo,
  fetchTransport,
  type RouteName,
} from '../../src/control/index.ts'
import { LAUNCHER, startPortolan } from '../cli/portolan.ts'
import { crawl, FAST, temporaryDirectory } from '../crawl/run-crawl.ts'

/** Every page leads to two more; each takes a moment, so that a crawl of it is still there when somebody looks. */
async function endlessSite(): Promise<string> {
  const server = createServer((request, response) => {
    const number = Number(/^\/(\d+)/.exec(request.url ?? '')?.[1] ?? 0)
    const links = [2 * number + 1, 2 * number + 2].map((next) => `<a href="/${next}">${next}</a>`).join('')
    setTimeout(
      () => response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${number}</title>${links}`),
      10,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

interface Ui {
  readonly client: ControlClient
  readonly link: string
  readonly said: () => string
  readonly end: () => Promise<number>
}

async function startUi(dir: string): Promise<Ui> {
  const { promise: until, resolve: stop } = Promise.withResolvers<undefined>()
  const { promise: linked, resolve: tellLink } = Promise.withResolvers<string>()
  let said = ''
  const streams = {
    stdout: { write: (text: string) => tellLink(text.trim()) },
    stderr: { write: (text: string) => (said += text) },
  }
  const code = runUi([dir, '--port', '0'], streams, { until, launcher: LAUNCHER })
  code.catch(() => undefined)
  const link = await Promise.race([linked, code.then(() => '')])
  const [base = '', token = ''] = link.split('/#token=')
  const end = async (): Promise<number> => {
    stop(undefined)
    return code
  }
  onTestFinished(async () => void (await end()))
  return { client: createClient(fetchTransport(base, token), { who: 'dashboard' }), link, said: () => said, end }
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await sleep(20)
}

test('two serve one crawl: the first that ends leaves the token of the other', async () => {
  const dir = join(temporaryDirectory(onTestFinished), 'harbour')
  await crawl({ dir, seeds: [await endlessSite()], flags: { ...FAST, 'max-pages': '2' } })
  const first = await startUi(dir)
  const second = await startUi(dir)
  const note = join(dir, 'state/ui.json')
  await first.end()
  expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ link: second.link })
  await second.end()
  expect(existsSync(note)).toBe(false)
})

// Root may write everywhere.
test.skipIf(process.getuid?.() === 0)('a crawl that may only be read is served all the same', async () => {
  const dir = join(temporaryDirectory(onTestFinished), 'harbour')
  await crawl({ dir, seeds: [await endlessSite()], flags: { ...FAST, 'max-pages': '2' } })
  chmodSync(join(dir, 'state'), 0o500)
  onTestFinished(() => chmodSync(join(dir, 'state'), 0o700))
  const { client } = await startUi(dir)
  expect((await client.call('crawls', {})).crawls).toHaveLength(1)
  expect(existsSync(join(dir, 'state/ui.json'))).toBe(false)
})

test('a crawl at rest is answered from its files, and changed for its next run', async () => {
  const dir = join(temporaryDirectory(onTestFinished), 'harbour')
  const site = await endlessSite()
  await crawl({ dir, seeds: [site], flags: { ...FAST, 'max-pages': '5' } })
  const { client, link, said, end } = await startUi(dir)
  expect(said()).toContain('Serving the crawl in')
  expect(said()).not.toContain(link.split('=')[1])

  const note = join(dir, 'state/ui.json')
  expect([statSync(note).mode & 0o777, statSync(join(dir, 'state/ui.html')).mode & 0o777]).toEqual([0o600, 0o600])
  expect(JSON.parse(readFileSync(note, 'utf8'))).toMatchObject({ link, pid: process.pid })

  const { crawls } = await client.call('crawls', {})
  expect(crawls).toHaveLength(1)
  const [info] = crawls as [CrawlInfo]
  expect(ROUTES.crawl.answer.parse(info)).toMatchObject({ id: 'harbour', dir, state: 'stopped', now: null })
  expect(info.figures.pages).toBe(5)
  expect(info.figures.waiting).toBeGreaterThan(0)
  expect(info.can).toEqual(['start', 'checkpoint', 'seed', 'set'])

  const one = { crawl: 'harbour' }
  await until(async () => (await client.call('pages', one)).readShare === 1)
  const answers: Partial<Record<RouteName, unknown>> = {
    timeline: await client.call('timeline', one),
    settings: await client.call('settings', one),
    agents: await client.call('agents', one),
    nodes: await client.call('nodes', one),
    archive: await client.call('archive', one),
    events: await client.call('events', one),
    explain: await client.call('explain', { ...one, url: site }),
    pages: await client.call('pages', { ...one, limit: 2 }),
    failures: await client.call('failures', one),
    broken: await client.call('broken', one),
    hosts: await client.call('hosts', { ...one, sort: 'waiting' }),
    host: await client.call('host', { ...one, host: new URL(site).hostname }),
    statistics: await client.call('statistics', one),
  }
  for (const [name, answer] of Object.entries(answers)) ROUTES[name as RouteName].answer.parse(answer)
  expect(answers.pages).toMatchObject({ items: [{ status: 200 }, { status: 200 }], total: 5, readShare: 1 })
  expect(answers.hosts).toMatchObject({ items: [{ pages: 5, waiting: null }] })
  expect(answers.host).toMatchObject({ pages: 5, statuses: { 200: 5 } })
  expect(answers.explain).toMatchObject({ state: 'page', page: { status: 200 } })
  expect(answers.agents).toMatchObject({ agents: [{ pages: 5, waiting: info.figures.waiting }] })

  // What a change would do, what it does, and who did it.
  const options = { url: { exclude: ['/1\\d*$'] } }
  const preview = await client.call('preview', one, { options })
  expect(preview).toMatchObject({ waiting: info.figures.waiting, isComplete: true, takesEffect: 'anew' })
  expect(preview.examples.every((url) => /\/1\d*$/.test(url))).toBe(true)
  expect(preview.hit).toBe(Object.values(preview.reasons).reduce((sum, count) => sum + count, 0))
  expect(await client.call('set', one, { options })).toMatchObject({ takesEffect: 'next run' })
  expect(JSON.parse(readFileSync(join(dir, 'state/settings.json'), 'utf8'))).toMatchObject(options)
  expect(await client.call('addSeeds', one, { seeds: [site, `${site}99`, 'nonsense', `${site}1`] })).toMatchObject({
    added: 1,
    known: 1,
    problems: [{ where: 'seeds.2' }, { where: 'seeds.3' }],
  })
  const { items } = await client.call('changes', one)
  expect(items.map(({ who, what }) => [who, what])).toEqual([
    ['dashboard', 'seeds'],
    ['dashboard', 'settings'],
  ])

  for (const [asked, fields] of [
    [{ url: { exclude: ['('] } }, ['options.url.exclude.0']],
    [{ agent: { maxPages: 7 } }, ['options.agent.maxPages']],
    [{ frontier: { dealy: '1s' } }, ['options.frontier.dealy']],
  ] as const) {
    const refused = client.call('set', one, { options: asked })
    await expect(refused).rejects.toMatchObject({ status: 400, fields: fields.map((where) => ({ where })) })
  }
  for (const name of ['pause', 'resume', 'stop'] as const) {
    await expect(client.call(name, one)).rejects.toMatchObject({ status: 409, code: 'CONTROL_REFUSED' })
  }
  await expect(client.call('create', {}, { seeds: [site] })).rejects.toMatchObject({ status: 409 })

  const copy = await client.call('checkpoint', one)
  expect(readFileSync(join(copy.to, 'state/pending-seeds.json'), 'utf8')).toContain(`${site}99`)
  expect(copy.files).toBeGreaterThan(0)
  expect(existsSync(join(copy.to, 'state/journal'))).toBe(true)

  expect(await end()).toBe(0)
  expect(existsSync(note)).toBe(false)
})

test('a crawl is begun from a folder of crawls, runs as a process of its own, is steered, and is at rest again', async () => {
  const folder = temporaryDirectory(onTestFinished)
  mkdirSync(join(folder, 'no-crawl'))
  writeFileSync(join(folder, 'secret'), 'x')
  const site = await endlessSite()
  const { client, said, end } = await startUi(folder)
  expect(said()).toContain('where no crawl is yet')
  expect(await client.call('crawls', {})).toEqual({ crawls: [] })

  for (const [body, fields] of [
    [{ seeds: ['nonsense', site], name: '../up' }, ['seeds.0', 'name']],
    [{ seeds: [site], name: 'no-crawl' }, ['name']],
    [{ seeds: [site], options: { frontier: { delay: 'soon' } } }, ['options.frontier.delay']],
  ] as const) {
    await expect(client.call('create', {}, body as never)).rejects.toMatchObject({
      status: 400,
      fields: fields.map((where) => ({ where })),
    })
  }
  expect(existsSync(join(folder, '../up'))).toBe(false)

  const options = {
    fetch: { allowPrivate: true },
    frontier: { delay: '0ms' },
    agent: { agents: 1 },
    store: { warc: 'none' },
  }
  const begun = await client.call('create', {}, { name: 'endless', seeds: [site], options })
  expect(begun).toMatchObject({ id: 'endless', dir: join(folder, 'endless') })
  const one = { crawl: 'endless' }
  const info = (): Promise<CrawlInfo> => client.call('crawl', one)
  await until(async () => {
    const { now, figures, name } = await info()
    expect(name).toBe('endless')
    return now !== null && figures.pages > 3
  })

  // What is crawled is nobody's business who lists the processes of the machine.
  const { pid } = JSON.parse(readFileSync(join(folder, 'endless/state/control.json'), 'utf8')) as { pid: number }
  if (existsSync(`/proc/${pid}/cmdline`)) {
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')).toContain('--seeds')
    expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(site)
  }

  // Through its socket: paused, gone on, stopped, with everything that changes told to who watches.
  const states: string[] = []
  const enough = new AbortController()
  const watching = client.live('endless', { onInfo: ({ state }) => void states.push(state) }, enough.signal)
  await client.call('pause', one)
  await until(async () => (await info()).state === 'paused')
  await client.call('resume', one)
  await client.call('stop', one)
  await until(async () => ['stopped', 'finished'].includes((await info()).state))
  await until(async () => states.at(-1) === 'stopped')
  enough.abort()
  await watching.catch(() => undefined)
  const rested = await info()
  expect([rested.state, rested.now]).toEqual(['stopped', null])
  expect((await client.call('changes', one)).items.map(({ who, what }) => `${who}: ${what}`)).toEqual([
    'dashboard: stop',
    'dashboard: resume',
    'dashboard: pause',
  ])

  // One that is damaged is listed with its trouble, and hides no other.
  mkdirSync(join(folder, 'damaged/state'), { recursive: true })
  writeFileSync(join(folder, 'damaged/state/layout.json'), '{')
  const [damaged, sound] = (await client.call('crawls', {})).crawls
  expect([damaged?.id, damaged?.stoppedBecause, sound?.id]).toEqual([
    'damaged',
    expect.stringContaining('layout.json'),
    'endless',
  ])

  // Limits of a run hold again when it is started from here, until it is told others.
  const most = rested.figures.pages + 5
  await client.call('start', one, { options: { agent: { maxPages: most, maxTime: '7h' } } })
  const isStopped = async (pages: number): Promise<boolean> => {
    const { state, figures } = await info()
    return state === 'stopped' && figures.pages === pages
  }
  await until(() => isStopped(most))
  expect((await info()).stoppedBecause).toBe('max-pages')
  expect((await info()).limits).toMatchObject({ maxPages: most, maxTimeMs: 25_200_000 })
  await expect(client.call('start', one)).rejects.toMatchObject({
    status: 400,
    fields: [{ where: 'options.agent.maxPages', what: expect.stringContaining('pages; say more') }],
  })
  await expect(client.call('start', one, { options: { url: { maxDepth: 3 } } })).rejects.toMatchObject({
    fields: [{ where: 'options.url.maxDepth' }],
  })
  await client.call('start', one, { options: { agent: { maxPages: most + 3 } } })
  await until(() => isStopped(most + 3))
  expect((await info()).limits).toMatchObject({ maxPages: most + 3, maxTimeMs: 25_200_000 })
  const none = { agent: { maxPages: null, maxTime: null } }

  // It goes on, and outlives the ui.
  expect((await client.call('start', one, { options: none })).text).toContain('It runs')
  await until(async () => (await info()).now !== null)
  await expect(client.call('start', one)).rejects.toMatchObject({ status: 409 })
  await client.call('stop', one)
  expect(await end()).toBe(0)
  await until(async () => !existsSync(join(folder, 'endless/state/lock')))
})

test('what was typed wrongly is said, and nothing is served', async () => {
  let said = ''
  const streams = { stdout: { write: () => undefined }, stderr: { write: (text: string) => (said += text) } }
  expect(await runUi(['a', 'b', '--prot', '1', '--listen', 'x y'], streams)).toBe(2)
  expect(said).toContain('--port?')
  expect(said).toContain('one directory at a time')
  expect(await runUi(['.', '--port', '99999'], streams)).toBe(2)
  await expect(runUi([join(temporaryDirectory(onTestFinished), 'none')], streams)).rejects.toThrow(
    'there is no directory',
  )
  await expect(runUi([import.meta.filename], streams)).rejects.toThrow('is a file')
  const busy = createServer().listen(0, '127.0.0.1')
  await once(busy, 'listening')
  const { port } = busy.address() as AddressInfo
  const folder = temporaryDirectory(onTestFinished)
  await expect(runUi([folder, '--port', String(port)], streams)).rejects.toThrow(`port ${port} is taken`)
  busy.close()
  expect(uiCommand.details()).toContain('--listen')
})

test('the command prints its link once and ends with Ctrl-C', async () => {
  const folder = temporaryDirectory(onTestFinished)
  const { child, finished } = startPortolan(['ui', folder, '--port', '0'])
  await once(child.stdout ?? child, 'data')
  child.kill('SIGINT')
  const { code, stdout, stderr } = await finished
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]{32}\n$/)
  expect([code, stderr.includes('token=')]).toEqual([0, false])
})
