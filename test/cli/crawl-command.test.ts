// The command as its users meet it: what it prints, where, and with which exit code, when all goes
// well and when nothing does.

import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import { portolan, startPortolan } from './portolan.ts'

const directory = (): string => temporaryDirectory(onTestFinished)

async function startWeb(options: TestWebOptions = {}): Promise<TestWeb> {
  const web = await startTestWeb({ hosts: 2, pages: 15, ...options })
  onTestFinished(() => web.stop())
  return web
}

/** One agent: a thread more costs more than these webs, and what several do together is the matter of test/agents. */
const LOCAL = ['--allow-private', '--delay', '0ms', '--agents', '1']

/** A port on which nobody listens. */
async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

describe('a crawl that works', () => {
  test('leaves every file of the contract, and one JSON object on standard output', async () => {
    const web = await startWeb()
    const dir = join(directory(), 'out')
    const args = ['crawl', ...web.seeds(), '--dir', dir, '--allow-private', '--delay', '0ms', '--agents', '2', '--json']
    // From the sources; the others below run the same, bundled.
    const { code, stdout, stderr } = await portolan(args, { isFromSources: true })
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(` into ${dir} with 2 agents. Ctrl-C stops cleanly.\n`)
    const result = JSON.parse(stdout) as Record<string, unknown>
    const truth = web.truth()
    expect(result).toMatchObject({
      pages: truth.pages.size,
      failed: 0,
      waiting: 0,
      hosts: 2,
      dir,
      stoppedBecause: 'finished',
      urlsSeen: truth.pages.size + truth.skipped.size,
      agents: 2,
      run: { pages: truth.pages.size, restarts: 0 },
    })
    for (const field of ['bytes', 'seconds', 'peakRssBytes', 'cpuSeconds']) expect(result[field]).toBeGreaterThan(0)
    expect(JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8'))).toEqual(result)
    for (const name of ['pages.jsonl', 'failures.jsonl', 'report.html', 'archive/index.cdxj']) {
      expect(existsSync(join(dir, name)), name).toBe(true)
    }
    // One of each agent that has fetched something: which hosts are whose is chance.
    const archives = readdirSync(join(dir, 'archive')).filter((name) => name.endsWith('.warc.gz'))
    const writers = new Set(archives.map((name) => /-(\d+)-\d+\.warc\.gz$/.exec(name)?.[1]))
    // Read while the index was sorted, and once more when all is at rest.
    const again = join(directory(), 'again.html')
    expect((await portolan(['report', dir, '--out', again])).code).toBe(0)
    expect(readFileSync(again, 'utf8')).toBe(readFileSync(join(dir, 'report.html'), 'utf8'))
    expect(archives).toHaveLength(writers.size)
    expect([1, 2]).toContain(archives.length)
    expect(existsSync(join(dir, 'state/pid'))).toBe(false)
  })

  test('goes into a folder named after the first seed, and says where the report is', async () => {
    const web = await startWeb({ hosts: 1, pages: 3 })
    const cwd = directory()
    const { code, stdout, stderr } = await portolan(['crawl', ...web.seeds(), ...LOCAL], { cwd })
    expect(code).toBe(0)
    expect(stdout).toBe('')
    expect(existsSync(join(cwd, '127.1.0.1/pages.jsonl'))).toBe(true)
    expect(stderr).toContain('127.1.0.1/report.html')
  })

  test('on a finished directory asks no server, prints the result and exits 0', async () => {
    const web = await startWeb()
    const dir = directory()
    const args = ['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, '--json']
    const first = await portolan(args)
    web.reset()
    const second = await portolan(args)
    expect(second.code).toBe(0)
    expect([...web.log.requests()]).toEqual([])
    const [before, after] = [first, second].map(({ stdout }) => JSON.parse(stdout) as Record<string, unknown>)
    expect(after).toMatchObject({ pages: before?.['pages'], urlsSeen: before?.['urlsSeen'], run: { pages: 0 } })
  })

  test('limits are totals: raising one goes on to exactly that', async () => {
    const web = await startWeb({ pages: 40 })
    const dir = directory()
    for (const limit of [10, 10, 25]) {
      const { stdout } = await portolan([
        'crawl',
        ...web.seeds(),
        '--dir',
        dir,
        ...LOCAL,
        '--json',
        '--max-pages',
        String(limit),
      ])
      expect(JSON.parse(stdout)).toMatchObject({ pages: limit, stoppedBecause: 'max-pages' })
    }
    const { stdout } = await portolan(['crawl', '--dir', dir, ...LOCAL, '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ pages: web.truth().pages.size, stoppedBecause: 'finished' })
    const urls = readFileSync(join(dir, 'pages.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { url: string }).url)
    expect(new Set(urls).size).toBe(urls.length)
  })

  test('seeds come from files and standard input, with comments, and every bad line is named', async () => {
    const web = await startWeb()
    const folder = directory()
    const [first, second] = web.seeds()
    writeFileSync(join(folder, 'seeds.txt'), `# sites\n${first}\n\nmailto:a@b.test   # no\nhttp://[bad/\n`)
    const { code, stdout, stderr } = await portolan(
      ['crawl', '--seeds', join(folder, 'seeds.txt'), '--seeds', '-', '--dir', join(folder, 'out'), ...LOCAL, '--json'],
      { input: `${second} # the other\n` },
    )
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ hosts: 2, seeds: [first, second] })
    expect(stderr).toContain(`seeds.txt:4: 'mailto:a@b.test'`)
    expect(stderr).toContain(`seeds.txt:5: 'http://[bad/'`)
  })
})

describe('a crawl that is stopped', () => {
  test('by Ctrl-C ends cleanly with 3, and the same command goes on to the whole truth', async () => {
    const web = await startWeb({ hosts: 4, pages: 60, latencyMs: 5 })
    const dir = directory()
    const args = ['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, '--json']
    const { child, finished } = startPortolan(args)
    while (web.log.length < 60) await new Promise((resolve) => setTimeout(resolve, 5))
    expect(readFileSync(join(dir, 'state/pid'), 'utf8').trim()).toBe(String(child.pid))
    child.kill('SIGINT')
    const stopped = await finished
    expect(stopped.code).toBe(3)
    expect(JSON.parse(stopped.stdout)).toMatchObject({ stoppedBecause: 'interrupted' })
    expect(stopped.stderr).toContain('portolan crawl')
    const resumed = await portolan(args)
    expect(resumed.code).toBe(0)
    expect(JSON.parse(resumed.stdout)).toMatchObject({ stoppedBecause: 'finished', pages: web.truth().pages.size })
  })

  test('by kill -9 goes on to the whole truth, and asks again only what was under way', async () => {
    const web = await startWeb({ hosts: 8, pages: 120, latencyMs: 2 })
    const dir = directory()
    const args = ['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, '--json']
    let asked = 0
    for (let kills = 0; kills < 3; kills++) {
      const { child, finished } = startPortolan(args)
      const target = asked + 150
      while (web.log.length < target) await new Promise((resolve) => setTimeout(resolve, 3))
      child.kill('SIGKILL')
      await finished
      asked = web.log.length
    }
    const { code, stdout } = await portolan(args)
    expect(code).toBe(0)
    const truth = web.truth()
    expect(JSON.parse(stdout)).toMatchObject({ stoppedBecause: 'finished', pages: truth.pages.size })
    const urls = readFileSync(join(dir, 'pages.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { url: string }).url)
    expect(urls.sort()).toEqual([...truth.pages.keys()].sort())
    expect(web.politeness({ delayMs: 0 })).toEqual([])
  })
})

describe('a crawl that cannot be', () => {
  test.for<[args: string[], ...words: string[]]>([
    [[], 'seeds', 'at least one URL'],
    [['example.org'], "seed 'example.org'", 'https://example.org/'],
    [['sftp://x/'], 'seed'],
    [['http://user:secret@a.test/'], 'user name'],
    [['http://a.test/', '--dealy', '1s'], '--dealy', '--delay'],
    [['http://a.test/', '--delay', '5'], '--delay', 'unit'],
    [['http://a.test/', '--scope', 'hots'], '--scope', 'host'],
    [['http://a.test/', '--max-pages', '0'], '--max-pages'],
    [['http://a.test/', '--include', '('], '--include', 'regular expression'],
    [['http://a.test/', '--progress', 'loud'], '--progress', 'auto'],
    [['http://a.test/', '--seeds', '/no/such/file'], '/no/such/file'],
    [['http://a.test/', '--config', '/no/such.json'], '/no/such.json'],
    [['--dir', '/tmp/there-is-no-crawl-here'], 'no crawl'],
  ])('%j is refused with 2, naming what and the nearest right thing', async ([args, ...words]) => {
    const { code, stdout, stderr } = await portolan(['crawl', ...args], { cwd: directory() })
    expect(code, stderr).toBe(2)
    expect(stdout).toBe('')
    for (const word of words) expect(stderr).toContain(word)
  })

  test('all problems are told at once', async () => {
    const { stderr } = await portolan(['crawl', 'example.org', '--delay', '5', '--scop', 'any'])
    expect(stderr).toContain('3 problems')
  })

  test('nobody listens: 4, with the reason by name', async () => {
    const seed = `http://127.0.0.1:${await closedPort()}/`
    const config = join(directory(), 'c.json')
    writeFileSync(config, JSON.stringify({ frontier: { backoff: '10ms' } }))
    const { code, stdout, stderr } = await portolan([
      'crawl',
      seed,
      '--config',
      config,
      '--dir',
      directory(),
      ...LOCAL,
      '--json',
    ])
    expect(code).toBe(4)
    expect(JSON.parse(stdout)).toMatchObject({ pages: 0, failed: 1 })
    expect(stderr).toContain('FETCH_CONNECT_REFUSED')
  })

  test('a private address without --allow-private: 4, with what to do', async () => {
    const web = await startWeb()
    const { code, stderr } = await portolan(['crawl', ...web.seeds(1), '--dir', directory()])
    expect(code).toBe(4)
    expect(stderr).toContain('private-address')
    expect([...web.log.requests()]).toEqual([])
  })

  test('robots.txt forbids the seed: 4, with the line that says so', async () => {
    const web = await startWeb({ robots: { some: 1 } })
    const { code, stderr } = await portolan(['crawl', `${web.seeds(1)[0]}private/x`, '--dir', directory(), ...LOCAL])
    expect(code).toBe(4)
    expect(stderr).toContain('Disallow: /private/')
  })

  test('a directory that cannot be written: a clear message, whoever one is', async () => {
    const folder = directory()
    writeFileSync(join(folder, 'file'), '')
    const { code, stderr } = await portolan(['crawl', 'http://a.test/', '--dir', join(folder, 'file/below')])
    expect(code).toBe(2)
    expect(stderr).toContain(`${join(folder, 'file')} is a file`)
    const closed = join(folder, 'closed')
    mkdirSync(closed)
    chmodSync(folder, 0o755)
    chmodSync(closed, 0o555)
    if (process.getuid?.() !== 0) return
    const asNobody = await portolan(['crawl', 'http://a.test/', '--dir', join(closed, 'out')], { uid: 65_534 })
    expect(asNobody.code).toBe(1)
    expect(asNobody.stderr).toContain('no permission (EACCES)')
  })

  test('two processes in one directory: the second is told which one has it', async () => {
    const web = await startWeb({ hosts: 1, pages: 5 })
    const dir = directory()
    // With such a rest the first one is still there, however slow the machine.
    const args = [
      'crawl',
      ...web.seeds(),
      '--dir',
      dir,
      '--allow-private',
      '--agents',
      '1',
      '--delay',
      '1h',
      '--max-wait',
      '2h',
    ]
    const { child, finished } = startPortolan(args)
    while (web.log.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
    const { code, stderr } = await portolan(args)
    expect(code).toBe(6)
    expect(stderr).toContain(String(child.pid))
    child.kill('SIGINT')
    await finished
  })
})

test('passwords are used and never written down', async () => {
  const web = await startWeb({ hosts: 1, pages: 2 })
  const folder = directory()
  const config = join(folder, 'c.json')
  const host = '127.1.0.1'
  writeFileSync(
    config,
    JSON.stringify({
      fetch: {
        logins: [{ host, user: 'me', password: 'hunter2' }],
        headers: { 'X-Key': 'opensesame' },
      },
    }),
  )
  const { code } = await portolan([
    'crawl',
    ...web.seeds(),
    '--config',
    config,
    '--dir',
    join(folder, 'out'),
    ...LOCAL,
    '--warc',
    'none',
  ])
  expect(code).toBe(0)
  for (const entry of readdirSync(join(folder, 'out'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const text = readFileSync(join(entry.parentPath, entry.name), 'latin1')
    expect(text.includes('hunter2') || text.includes(Buffer.from('me:hunter2').toString('base64')), entry.name).toBe(
      false,
    )
  }
  expect(readFileSync(join(folder, 'out/crawl.json'), 'utf8')).not.toContain('opensesame')
})

describe('what was said holds when the crawl goes on', () => {
  test('scope, exclusions and private addresses are remembered; limits are not', async () => {
    const web = await startWeb({ hosts: 1, pages: 60 })
    const dir = directory()
    const first = await portolan([
      'crawl',
      ...web.seeds(),
      '--dir',
      dir,
      ...LOCAL,
      '--exclude',
      '[?]',
      '--max-pages',
      '5',
      '--json',
    ])
    expect(first.code, first.stderr).toBe(0)
    const { code, stdout, stderr } = await portolan(['crawl', '--dir', dir, '--json'])
    expect(code, stderr).toBe(0)
    expect(stderr).toContain('exclude')
    const truth = web.truth({ exclude: [/[?]/] })
    expect(JSON.parse(stdout)).toMatchObject({ stoppedBecause: 'finished', pages: truth.pages.size })
  })

  test('what is said anew wins', async () => {
    const web = await startWeb({ hosts: 1, pages: 60 })
    const dir = directory()
    await portolan(['crawl', ...web.seeds(), '--dir', dir, ...LOCAL, '--max-depth', '0'])
    const { stdout } = await portolan(['crawl', '--dir', dir, '--max-depth', '9', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ pages: web.truth({ maxDepth: 9 }).pages.size })
  })

  test('a seed that the exclusions refuse is told before anything is started', async () => {
    const { code, stderr } = await portolan(['crawl', 'http://a.test/x', '--exclude', '/x', '--dir', directory()])
    expect(code).toBe(2)
    expect(stderr).toContain('matches --exclude')
  })
})

test.for([
  ['a locked directory', 6],
  ['a directory that is a file', 2],
] as const)('--json with %s still prints what it owes', async ([what, expected]) => {
  const web = await startWeb({ hosts: 1, pages: 3 })
  const dir = directory()
  const args = [
    'crawl',
    ...web.seeds(),
    '--allow-private',
    '--agents',
    '1',
    '--delay',
    '1h',
    '--max-wait',
    '2h',
    '--json',
  ]
  if (what === 'a directory that is a file') {
    writeFileSync(join(dir, 'file'), '')
    expect(await portolan([...args, '--dir', join(dir, 'file')])).toMatchObject({ code: expected })
    return
  }
  const { child, finished } = startPortolan([...args, '--dir', dir])
  while (web.log.length < 1) await new Promise((resolve) => setTimeout(resolve, 5))
  const { code, stdout } = await portolan([...args, '--dir', dir])
  expect(code).toBe(expected)
  expect(JSON.parse(stdout)).toMatchObject({ stoppedBecause: 'error', error: { code: 'LEDGER_LOCKED' } })
  child.kill('SIGINT')
  await finished
})
