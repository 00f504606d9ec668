// Why is this host not asked? `explain` names every rest it has, and `status` counts those that asked for one.

import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, FAST, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { runExplain } from './explain.ts'
import { runStatus } from './status.ts'

async function told(run: typeof runExplain, ...args: string[]): Promise<string> {
  let out = ''
  const stdout = { write: (text: string): unknown => (out += text) }
  await run(args, { stdout, stderr: stdout })
  return out
}

test('a host that asked for an hour, taught a pace, and has hours: all of it is said, also after a run has ended', async () => {
  let pages = 0
  const server = createServer((request, response) => {
    if (request.url === '/robots.txt')
      return void response.writeHead(200).end('User-agent: *\nRequest-rate: 1/0\nCrawl-delay: 0.02')
    if (pages++ < 1) return void response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/next">n</a>')
    response.writeHead(429, { 'retry-after': '3600' }).end()
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  const seed = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const dir = temporaryDirectory(onTestFinished)
  const frontier = { latencyFactor: 0, rules: [{ hosts: '127.0.0.1', delay: '10ms', hours: '00:00-24:00' }] }
  const result = await crawl({
    seeds: [seed],
    dir,
    flags: { ...FAST, 'max-wait': '1s', delay: '1s' },
    config: { frontier },
  })
  expect(result.reason).toBe('only-resting')

  const open = { hosts: '127.0.0.1', delay: '10ms', hours: '00:00-24:00', zone: 'Asia/Kathmandu' }
  const settings = join(dir, 'state/settings.json')
  writeFileSync(settings, JSON.stringify({ frontier: { domainDelay: '2s', rules: [open] } }))
  const said = await told(runExplain, `${seed}next`, '--dir', dir)
  expect(said).toMatch(/^ {2}manners {3}127\.0\.0\.1 rests between two requests: .+$/m)
  for (const part of [
    '30ms learnt from 1 × 429 or 503',
    'its Crawl-delay of 20ms',
    '10ms by the rule for 127.0.0.1',
    'its hosts rest together, for 2s',
    '00:00–24:00 Asia/Kathmandu; open now',
  ]) {
    expect(said).toContain(part)
  }
  const pause = /^ {2}pause {5}until (\S+), asked for with 429, Retry-After: 3600$/m.exec(said)?.[1] ?? ''
  const inMs = Date.parse(pause) - Date.now()
  expect(inMs).toBeGreaterThan(3_500_000)
  expect(inMs).toBeLessThan(3_661_000)

  // Closed for the next hours, whenever this test is run.
  const clock = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16)
  const closed = { hosts: '*', hours: `${clock(4)}-${clock(5)}` }
  writeFileSync(settings, JSON.stringify({ frontier: { rules: [closed] } }))
  expect(await told(runExplain, seed, '--dir', dir)).toMatch(/^ {2}hours {5}.+ UTC; closed, opens 20\S+Z$/m)
  const json = JSON.parse(await told(runExplain, seed, '--dir', dir, '--json')) as Record<string, unknown>
  expect(json['manners']).toMatchObject({ restMs: 1_000, learntFrom: 1, pause: { until: pause } })

  expect(await told(runStatus, dir)).toContain(
    'manners   1 host asked for a pause, 1 host taught us to ask slower; `portolan explain URL` says more',
  )
  expect(JSON.parse(await told(runStatus, dir, '--json'))).toMatchObject({ manners: { paused: 1, learnt: 1 } })
})
