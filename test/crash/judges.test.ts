// The judges of killed crawls find every offence that is planted, and have nothing against what is right.

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { AccessLog, startTestWeb } from '../../testweb/index.ts'
import { portolan } from '../cli/portolan.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import type { CommittedBatch, CommittedState } from './committed-state.ts'
import { judgeLives, type LivesVerdict } from './judge-lives.ts'
import { judgeResult } from './judge-result.ts'
import type { Life } from './killed-crawl.ts'

type Asked = readonly [atMs: number, path: string, status?: number]
const HOST = 'a.test'
const REST_MS = 1_000
const urlOf = (path: string): string => `http://${HOST}${path}`

/** Requests of one host, each answered after a millisecond; those with status −1 never. */
function logOf(...requests: readonly Asked[]): AccessLog {
  const log = new AccessLog(100)
  for (const [atMs, path, status = 200] of requests) {
    const entry = log.begin(atMs, HOST, '127.0.0.1', 0, false, path)
    if (status >= 0) log.end(entry, atMs + 1, status)
  }
  return log
}

function batch(number: number, atMs: number, paths: readonly string[], restMs: number | null = null): CommittedBatch {
  const rests = restMs === null ? [] : [{ host: HOST as never, restMs, why: '429' }]
  return { number, pages: paths.map(urlOf), rests, atMs }
}

function stateOf(...batches: readonly CommittedBatch[]): CommittedState {
  return { batches, lastNumber: batches.length, pages: batches.flatMap(({ pages }) => pages), failures: [] }
}

/** A life that is killed, and one that ends well; `cut` is the number of requests of the first. */
function judge(log: AccessLog, cut: number, first: CommittedState, second: CommittedState, delayMs = 0): LivesVerdict {
  const killed: Life = {
    moment: 'working',
    wasKilled: true,
    from: 0,
    to: cut,
    endedAtMs: 400,
    before: [stateOf()],
    after: [first],
    shown: null,
  }
  const ended: Life = { ...killed, wasKilled: false, from: cut, to: log.length, before: [first], after: [second] }
  return judgeLives({ log }, [killed, ended], { delayMs, atOnce: 1, retryAfterMs: REST_MS })
}

describe('the lives of a crawl', () => {
  test('what was in no batch may be asked for again, and is counted', () => {
    const log = logOf([0, '/1'], [10, '/2'], [120, '/3'], [130, '/4', -1], [500, '/3'], [510, '/4'])
    const first = stateOf(batch(1, 100, ['/1', '/2']))
    const { problems, kills } = judge(log, 4, first, stateOf(batch(1, 100, ['/1', '/2']), batch(2, 200, ['/3', '/4'])))
    expect(problems).toEqual([])
    expect(kills).toMatchObject([{ lost: 1, bound: 4, batches: 1, requests: 4 }])
  })

  test('a page in a batch that is asked for again is an offence', () => {
    const first = stateOf(batch(1, 100, ['/1']))
    const { problems } = judge(logOf([0, '/1'], [500, '/1']), 1, first, first)
    expect(problems).toEqual([`${HOST}/1 was asked for after a batch had its verdict`])
  })

  test('more lost than was under way or came after the last batch is an offence', () => {
    // The last batch was taken at 300 or later, and only one host is asked at a time: /2 or /3 is in it.
    const log = logOf([0, '/1'], [10, '/2'], [20, '/3'], [300, '/4'], [500, '/2'], [510, '/3'])
    const first = stateOf(batch(1, 100, ['/1']), batch(2, 350, ['/4']))
    const { problems, kills } = judge(log, 4, first, first)
    expect(kills).toMatchObject([{ lost: 2, bound: 2 }])
    expect(problems).toEqual([])
    const later = stateOf(batch(1, 100, ['/1', '/4']), batch(2, 150, []))
    expect(judge(log, 4, later, later).problems).toEqual(['a kill lost 2 answers, at most 1 may be'])
  })

  test('a page that is in no batch any more is an offence', () => {
    const { problems } = judge(logOf([0, '/1']), 1, stateOf(batch(1, 100, ['/1'])), stateOf())
    expect(problems).toEqual(['a page that was in a batch is gone'])
  })

  test('a host asked too soon after the kill is an offence, also where the answer never came', () => {
    const log = logOf([0, '/1'], [60, '/2', -1], [420, '/2'])
    expect(judge(log, 2, stateOf(), stateOf(), 50).problems).toHaveLength(1)
    expect(judge(log, 2, stateOf(), stateOf(), 20).problems).toEqual([])
  })

  test('a rest that is in a batch holds after the kill; one in no batch is counted', () => {
    const log = logOf([0, '/1', 429], [500, '/1'])
    const kept = judge(log, 1, stateOf(batch(1, 100, [], REST_MS)), stateOf(batch(1, 100, [], REST_MS)))
    expect(kept.problems).toEqual([`${HOST} asked for a rest of 1000 ms and had 499 in life 2`])
    expect(judge(log, 1, stateOf(), stateOf())).toMatchObject({ problems: [], restsLost: 1 })
  })
})

test('what several agents show together is in their batches, each page once, and all of it after a good end', () => {
  const agents = [stateOf(batch(1, 100, ['/1', '/2'])), stateOf(batch(1, 100, ['/3']))]
  const judgeShown = (paths: readonly string[], wasKilled: boolean): readonly string[] => {
    const ends = { wasKilled, from: 0, to: 3, endedAtMs: 400, before: [], after: agents, shown: paths.map(urlOf) }
    const log = logOf([0, '/1'], [10, '/2'], [20, '/3'])
    return judgeLives({ log }, [{ moment: 'working', ...ends }], { delayMs: 0, atOnce: 1, retryAfterMs: null }).problems
  }
  expect(judgeShown(['/3', '/1'], true)).toEqual([])
  expect(judgeShown(['/3', '/1', '/2'], false)).toEqual([])
  expect(judgeShown(['/3', '/1'], false)).toEqual(['pages.jsonl lacks pages, after a process that ended well'])
  expect(judgeShown(['/1', '/1'], true)).toEqual(['pages.jsonl shows a page twice'])
  expect(judgeShown(['/4'], true)).toEqual([`pages.jsonl shows what is in no batch: ${urlOf('/4')}`])
})

test('what a crawl leaves behind: every change to it is found', async () => {
  const web = await startTestWeb({ hosts: 3, pages: 20, faults: 'mild' })
  onTestFinished(() => web.stop())
  const dir = join(temporaryDirectory(onTestFinished), 'crawl')
  const ran = await portolan([
    'crawl',
    ...web.seeds(),
    '--dir',
    dir,
    '--allow-private',
    '--delay',
    '0ms',
    '--json',
    '--agents',
    '1',
  ])
  expect(ran.code, ran.stderr).toBe(0)
  expect((await judgeResult(web, dir, null)).problems).toEqual([])

  const problemsOf = async (name: string, change: (text: string) => string): Promise<string> => {
    const path = join(dir, name)
    const text = readFileSync(path, 'utf8')
    expect(change(text)).not.toBe(text)
    writeFileSync(path, change(text))
    const { problems } = await judgeResult(web, dir, null)
    writeFileSync(path, text)
    return problems.join('\n')
  }
  const [line = ''] = readFileSync(join(dir, 'pages.jsonl'), 'utf8').split('\n')
  expect(await problemsOf('pages.jsonl', (text) => text.slice(line.length + 1))).toContain('pages are missing')
  expect(await problemsOf('pages.jsonl', (text) => `${line}\n${text}`)).toContain('two verdicts')
  expect(await problemsOf('pages.jsonl', (text) => text.replace('"status":200', '"status":404'))).toContain('too many')
  expect(await problemsOf('pages.jsonl', (text) => text.replace(/"offset":\d+/, '"offset":7'))).toContain(
    'is not in archive/',
  )
  expect(await problemsOf('pages.jsonl', (text) => text.replace(/"duplicateOf":"[^"]*"/, '"x":1'))).toContain(
    'originals',
  )
  expect(await problemsOf('crawl.json', (text) => text.replace(/"urlsSeen": \d+/, '"urlsSeen": 1'))).toContain(
    'urlsSeen',
  )
  expect(await problemsOf('archive/index.cdxj', (text) => text.slice(text.indexOf('\n') + 1))).toContain('index.cdxj')
  expect((await judgeResult(web, dir, 5)).problems.join()).toContain('--max-pages is 5')
})
