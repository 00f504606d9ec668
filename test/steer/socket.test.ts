// The command, reached through its socket as `portolan ui` and `portolan top` reach it, and through its dashboard's port.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient, fetchTransport, socketTransport } from '../../src/control/index.ts'
import { startPortolan } from '../cli/portolan.ts'
import { directory, startWeb } from '../crawl/expect-truth.ts'
import { until } from './steered-run.ts'

test('a running crawl is seen, paused, given seeds, sped up and stopped', { timeout: 120_000 }, async () => {
  const web = await startWeb({ seed: 'socket', hosts: 4, pages: 100 })
  const dir = join(directory(), 'crawl')
  const [first = '', ...others] = web.seeds()
  // Left behind by a process that was killed.
  await mkdir(join(dir, 'state'), { recursive: true })
  writeFileSync(join(dir, 'state/control.json'), 'left behind')
  const args = ['crawl', first, '--dir', dir, '--allow-private', '--delay', '0ms', '--agents', '1', '--max-rate', '5']
  const { child, finished } = startPortolan([...args, '--progress', 'plain', '--dashboard'])
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until(() => said.includes('Crawling'))
  const note = join(dir, 'state/control.json')
  const { socket, pid } = JSON.parse(readFileSync(note, 'utf8')) as { socket: string; pid: number }
  expect(pid).toBe(child.pid)
  const client = createClient(socketTransport(socket), { who: 'test' })
  const { crawls } = await client.call('crawls', {})
  expect(crawls).toMatchObject([{ state: 'running', agents: 1, name: new URL(first).hostname }])
  const crawl = crawls[0]?.id ?? ''

  await client.call('pause', { crawl })
  await until(async () => (await client.call('crawl', { crawl })).now?.active === 0)
  expect(await client.call('crawl', { crawl })).toMatchObject({ state: 'paused', now: { slow: 'It is paused.' } })
  expect(await client.call('addSeeds', { crawl }, { seeds: [first, ...others, 'none'] })).toMatchObject({
    added: others.length,
    known: 1,
    problems: [{ where: 'seeds.4' }],
  })
  await client.call('trace', { crawl }, { url: others[0] ?? '' })
  await expect(client.call('set', { crawl }, { options: { url: { exclude: ['('] } } })).rejects.toMatchObject({
    status: 400,
    fields: [{ where: 'options.url.exclude.0' }],
  })
  await client.call('speed', { crawl }, { ratePerSecond: 20 })
  await client.call('resume', { crawl })
  await until(async () => {
    const { items } = await client.call('events', { crawl })
    return items.some(({ kind, text }) => kind === 'trace' && text.includes('is a page'))
  })
  // From here on it cannot come to its end before it is stopped.
  await client.call('pause', { crawl })
  const waiting = await client.call('hosts', { crawl, sort: 'waiting' })
  expect(waiting.items.length).toBeLessThanOrEqual(4)
  expect((await client.call('agents', { crawl })).agents).toHaveLength(1)

  // The dashboard's port has a token, and the same crawl.
  const link = new URL(/Dashboard: (\S+)/.exec(said)?.[1] ?? '')
  const token = new URLSearchParams(link.hash.slice(1)).get('token')
  const browser = createClient(fetchTransport(link.origin, token), { who: 'dashboard' })
  expect((await browser.call('crawl', { crawl })).id).toBe(crawl)
  await expect(createClient(fetchTransport(link.origin, 'wrong')).call('crawls', {})).rejects.toMatchObject({
    status: 401,
  })

  const { items: changes } = await client.call('changes', { crawl })
  expect(changes.map(({ what }) => what)).toEqual(['pause', 'resume', 'speed', 'seeds', 'pause'])
  expect(changes.every(({ who }) => who.includes('test'))).toBe(true)
  await client.call('stop', { crawl })
  const { code, stderr } = await finished
  expect(code, stderr).toBe(3)
  expect(stderr).not.toContain('The crawl goes on, but')
  expect(existsSync(note)).toBe(false)
  expect(existsSync(socket)).toBe(false)
})
