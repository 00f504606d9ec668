// portolan top: the picture fits its screen, keys steer, and what the web says stays text.

import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { crawl, temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { startTestWeb } from '../../testweb/index.ts'
import type { CrawlInfo, CrawlSource } from '../control/index.ts'
import { runTop, type TopTerminal } from './top.ts'
import { lookAt, STILL_READ, type TopLook } from './top-look.ts'
import { renderTop, sparkline, TOP_VIEWS } from './top-screen.ts'

const INFO: CrawlInfo = {
  id: 'x',
  name: 'museums',
  dir: '/crawls/museums',
  state: 'running',
  stoppedBecause: null,
  startedAt: null,
  agents: 1,
  figures: {
    pages: 12_345,
    failed: 7,
    failures: { DNS_NO_NAME: 7 },
    answers: { '2xx': 12_000, '4xx': 345 },
    skipped: { robots: 3 },
    refused: {},
    bytes: 1e9,
    wireBytes: 4e8,
    seconds: 125,
    hosts: 30,
    urlsSeen: 20_000,
    waiting: 7_645,
    cpuSeconds: 60,
    peakRssBytes: 2 ** 28,
  },
  now: {
    pagesPerSecond: 96.3,
    bytesPerSecond: 80_000,
    active: 12,
    hostsReady: 1,
    hostsResting: 17,
    rssBytes: 2 ** 27,
    cpuShare: 0.26,
    slow: 'Every host rests.',
  },
  cluster: null,
  can: ['pause'],
}

const LOOK: TopLook = {
  info: INFO,
  agents: [
    {
      agent: 0,
      node: null,
      pages: 12_345,
      failed: 7,
      waiting: 7_645,
      hosts: 30,
      active: 12,
      limit: 64,
      bottleneck: 'demand',
      speed: { connections: 128, ratePerSecond: 20, bytesPerSecond: null },
    },
  ],
  nodes: {
    shares: 2,
    nodes: [
      {
        node: 'a',
        state: 'working',
        host: 'm',
        version: 'v',
        weight: 2,
        shares: [0, 1],
        pages: 5,
        waiting: 6,
        active: 1,
        rssBytes: 2 ** 20,
        cpuSeconds: 1,
        lastBeatMs: 12,
      },
    ],
  },
  busiest: [{ host: 'a.test', pages: 9_000, errors: 1, bytes: 1e6, waiting: 5, state: 'resting', restUntil: null }],
  troubled: [
    { host: 'evil\x1b[2J\u202e.test', pages: 0, errors: 400, bytes: 0, waiting: null, state: null, restUntil: null },
  ],
  hostsTrouble: null,
}

const SCREEN = { columns: 120, rows: 30, isColoured: false, view: 'overview', rates: [1, 2, 8], message: '' } as const

test('figures by their names, what is slow, agents and nodes', () => {
  const text = renderTop(LOOK, SCREEN).join('\n')
  expect(text).toContain('Pages             12,345 (2xx 12,000, 4xx 345)')
  expect(text).toContain('Failed            7 (DNS_NO_NAME 7)')
  expect(text).toContain('What is slow      Every host rests.')
  expect(text).toContain('96/s')
  expect(text).toMatch(/demand, at most 20\/s/)
  expect(text).toMatch(/a +working +2 +0 1 .* just now/)
})

test('a hundred columns are enough for every figure; on eighty only parts of sums are cut', () => {
  const skipped = { 'near-duplicates': 12_345, robots: 3_445 }
  const look = { ...LOOK, info: { ...INFO, figures: { ...INFO.figures, skipped } } }
  const figuresAt = (columns: number): string =>
    renderTop(look, { ...SCREEN, columns })
      .slice(2, 7)
      .join('\n')
  expect(figuresAt(100)).not.toContain('…')
  expect(figuresAt(80)).toMatch(/Skipped +15,790 \(near-.*…/)
  for (const columns of [80, 100]) expect(figuresAt(columns)).toMatch(/resting\)\n[^]*at most\n[^]*of a processor$/)
})

test('hosts that are not read yet are no empty list', async () => {
  const info = { ...INFO, cluster: null }
  const source = {
    crawl: () => Promise.resolve(info),
    agents: () => Promise.resolve({ agents: [] }),
    hosts: () => Promise.resolve({ items: [], next: null, total: 0 }),
  } as unknown as CrawlSource
  const look = await lookAt(source, 10)
  expect(look).toMatchObject({ busiest: null, hostsTrouble: STILL_READ })
  expect(renderTop(look, { ...SCREEN, view: 'hosts' }).join('\n')).toContain('still being read')
})

test('whatever is looked at, it fits the screen, and nothing from outside steers the terminal', () => {
  const hostile = fc
    .array(fc.integer({ min: 0, max: 0x20_ff }), { maxLength: 300 })
    .map((codes) => String.fromCharCode(...codes))
  fc.assert(
    fc.property(
      fc.integer({ min: 20, max: 200 }),
      fc.integer({ min: 1, max: 60 }),
      fc.constantFrom(...TOP_VIEWS),
      hostile,
      hostile,
      (columns, rows, view, name, slow) => {
        const look: TopLook = {
          ...LOOK,
          info: { ...INFO, name, now: INFO.now === null ? null : { ...INFO.now, slow } },
          troubled: (LOOK.troubled ?? []).map((host) => ({ ...host, host: name })),
        }
        const lines = renderTop(look, { ...SCREEN, columns, rows, view, message: slow })
        expect(lines).toHaveLength(rows)
        expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
        // oxlint-disable-next-line no-control-regex -- that there are none is the point
        expect(lines.join('')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e]/)
      },
    ),
    { numRuns: 60 },
  )
})

test('a line of history: the highest is full, the newest is last', () => {
  expect(sparkline([0, 4, 8], 5)).toBe('  ▁▄█')
  expect(sparkline([1, 2, 3, 4], 2)).toBe('▆█')
  expect(sparkline([0, 0], 2)).toBe('▁▁')
})

function terminal(keys: TopTerminal['keys'] = null): TopTerminal & { out: string; err: string } {
  const written = {
    out: '',
    err: '',
    columns: 100,
    rows: 30,
    keys,
    onResize: () => () => {},
    stdout: { write: (text: string) => (written.out += text) },
    stderr: { write: (text: string) => (written.err += text) },
  }
  return written
}

test('a crawl at rest: one picture, JSON with the names of the API, and a live view that q ends', async () => {
  const web = await startTestWeb({ hosts: 2, pages: 10 })
  onTestFinished(() => web.stop())
  const dir = temporaryDirectory(onTestFinished)
  const { pages } = await crawl({ seeds: web.seeds(), dir })

  const once = terminal()
  expect(await runTop([dir], once)).toBe(0)
  expect(once.out).toContain('finished')
  expect(once.out).toMatch(new RegExp(`Pages +${pages.length} `))

  const json = terminal()
  expect(await runTop([dir, '--json'], json)).toBe(0)
  expect(JSON.parse(json.out)).toMatchObject({ crawl: { state: 'finished', figures: { pages: pages.length } } })

  let ended = 0
  const live = terminal((hear) => {
    // In the order in which somebody types them.
    for (const key of ['a', 'n', '-', 'q']) setImmediate(() => hear(key))
    return () => void ended++
  })
  expect(await runTop([dir], live)).toBe(0)
  expect(ended).toBe(1)
  expect(live.out.startsWith('\x1b[?1049h')).toBe(true)
  expect(live.out.endsWith('\x1b[?25h\x1b[?1049l')).toBe(true)
})

test('no directory, both, or no crawl: said', async () => {
  const none = terminal()
  expect(await runTop([], none)).toBe(2)
  expect(none.err).toContain('of which crawl?')
  const both = terminal()
  expect(await runTop(['x', '--nats', 'nats://127.0.0.1:1', '--crawl', 'c'], both)).toBe(2)
  expect(both.err).toContain('not both')
  const lacking = terminal()
  expect(await runTop(['--nats', 'nats://127.0.0.1:1'], lacking)).toBe(2)
  expect(lacking.err).toContain('--crawl')
  await expect(runTop([temporaryDirectory(onTestFinished)], terminal())).rejects.toThrow('there is no crawl')
})
