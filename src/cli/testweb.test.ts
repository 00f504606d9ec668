// `portolan testweb` serves until told to stop, says where, and refuses what it does not understand.

import { EventEmitter } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { portolan } from '../../test/cli/portolan.ts'
import { temporaryDirectory } from '../../test/crawl/run-crawl.ts'
import { parseRequests, Web } from '../../testweb/index.ts'
import { runTestweb } from './testweb.ts'

/** A process of which only the signals and the output are real. */
class FakeProcess extends EventEmitter {
  readonly pid = 7
  text = ''
  complaints = ''
  readonly stderr = { write: (text: string): unknown => (this.complaints += text) }
  readonly stdout = {
    write: (text: string): void => {
      this.text += text
      this.emit('written')
    },
  }
}

async function start(args: string[]): Promise<{ output: string; stop: (signal?: string) => Promise<number> }> {
  const fake = new FakeProcess()
  const written = new Promise<void>((resolve) => fake.once('written', () => resolve()))
  const code = runTestweb(args, fake)
  await Promise.race([written, code])
  return {
    output: fake.text,
    stop: (signal = 'SIGINT') => {
      fake.emit(signal)
      return code
    },
  }
}

function statusOf(url: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode))
    }).on('error', reject)
  })
}

describe('portolan testweb', () => {
  test('says how to crawl it, serves it, and ends well on Ctrl-C', async () => {
    const { output, stop } = await start(['--hosts', '2', '--pages', '3'])
    const seed = /portolan crawl (http:\S+)/.exec(output)?.[1] ?? ''
    expect(output).toContain('2 hosts with 3 pages each')
    expect(await statusOf(seed)).toBe(200)
    expect(await stop()).toBe(0)
    await expect(statusOf(seed)).rejects.toThrow()
  })

  test('with --json tells scripts all they need in one line', async () => {
    const { output, stop } = await start(['--json', '--hosts', '3', '--seed', 'x', '--pages', '4', '--bytes', '2kB'])
    const ready = JSON.parse(output) as { port: number; pid: number; seeds: string[]; dns: string }
    expect(output.trimEnd()).not.toContain('\n')
    expect(ready.pid).toBe(7)
    expect(ready.dns).toMatch(/^127\.0\.0\.1:\d+$/)
    const web = new Web({ hosts: 3, seed: 'x', pages: 4, meanBytes: 2_000 }, { http: ready.port, https: null })
    expect(ready.seeds).toEqual(web.seeds())
    expect(await stop('SIGTERM')).toBe(0)
  })

  test('with --nasty shows every way to answer badly, on a host each', async () => {
    const { output, stop } = await start(['--nasty', '--hosts', '1'])
    const root = /nasty hosts: (http:\S+)/.exec(output)?.[1] ?? ''
    expect(await (await fetch(root)).text()).toContain('>gzip-bomb</a>')
    expect(await stop()).toBe(0)
    const scripted = await start(['--nasty', '--hosts', '1', '--json'])
    const ready = JSON.parse(scripted.output) as { nasty: Record<string, string>; caFile: string }
    expect(ready.caFile).not.toBeNull()
    expect(await statusOf(ready.nasty['status-colon'] ?? '').catch(() => 'refused')).toBe('refused')
    expect(await statusOf(ready.nasty['redirect-no-location'] ?? '')).toBe(301)
    expect(await scripted.stop()).toBe(0)
  })

  test('writes every request to the log file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'testweb-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'log.tsv')
    const { output, stop } = await start(['--json', '--hosts', '1', '--pages', '2', '--log', file])
    const [seed] = (JSON.parse(output) as { seeds: string[] }).seeds
    await statusOf(seed!)
    await statusOf(`${seed}_/gone`)
    await stop()
    expect(parseRequests(readFileSync(file, 'utf8')).map(({ path, status }) => `${path} ${status}`)).toEqual([
      '/ 200',
      '/_/gone 410',
    ])
  })

  test('with https its authority stands in a file that the printed command names, and goes with the web', async () => {
    const { output, stop } = await start(['--json', '--https', '--names', '--hosts', '2', '--pages', '3'])
    const ready = JSON.parse(output) as { authority: string; caFile: string; command: string; dns: string }
    expect(readFileSync(ready.caFile, 'utf8')).toBe(ready.authority)
    expect(ready.command).toMatch(/^portolan crawl http:\S+ /)
    const dir = temporaryDirectory(onTestFinished)
    const args = ready.command.split(' ').slice(1)
    const { code, stdout, stderr } = await portolan([...args, '--dir', dir, '--warc', 'off', '--json'])
    expect(code, stderr).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ pages: 6, failed: 0, hosts: 2 })
    await stop()
    expect(existsSync(ready.caFile)).toBe(false)
  })

  test('people are shown the same command, and no certificate', async () => {
    const { output, stop } = await start(['--https', '--hosts', '1', '--pages', '1'])
    expect(output).toMatch(/^ {2}portolan crawl .* --ca-file \S+ca\.pem$/m)
    expect(output).toContain('1 host with 1 page each')
    expect(output).not.toContain('BEGIN CERTIFICATE')
    await stop()
  })

  test.each([
    [
      ['--hosts', 'foo', '--bogus'],
      ["--hosts: 'foo' is not a whole number from 1", '--bogus: unknown'],
    ],
    [['--hosts', '0'], ["--hosts: '0' is not a whole number from 1"]],
    [['--bytes', '14'], ["--bytes: '14' needs a number and a unit, like 14kB"]],
    [['--faults', 'some'], ["--faults: 'some' is not one of none, mild, all"]],
    [
      ['--port', '70000', '--latency', '5'],
      ["--latency: '5' needs", "--port: '70000' is not a whole number from 0 to 65535"],
    ],
    [['--cross-links', '2'], ["--cross-links: '2' is not a number from 0 to 1"]],
    [['--page', '3'], ['--page: unknown; did you mean --pages?']],
    [['extra'], ["'extra': testweb takes no such argument"]],
  ])('%j is refused by name', async (args, words) => {
    const fake = new FakeProcess()
    expect(await runTestweb(args, fake)).toBe(2)
    for (const word of words) expect(fake.complaints).toContain(word)
  })

  test('a log that cannot be written is named', async () => {
    await expect(runTestweb(['--log', '/nowhere/at/all'], new FakeProcess())).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('--log /nowhere/at/all: cannot be written') as unknown,
    })
  })

  test('a port that is taken is named', async () => {
    const { output, stop } = await start(['--json', '--hosts', '1', '--pages', '1'])
    const { port } = JSON.parse(output) as { port: number }
    await expect(runTestweb(['--hosts', '1', '--port', String(port)], new FakeProcess())).rejects.toThrow(
      `port ${port} cannot be had`,
    )
    await stop()
  })
})
