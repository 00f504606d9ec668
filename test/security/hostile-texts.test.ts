// What a hostile site says about itself is written down as it is where machines read, and never acts on a terminal or in a
// browser: no control byte of a title, header, address or robots line reaches what people look at, and no tag the report.

import { createServer, type AddressInfo, type Socket } from 'node:net'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runExplain } from '../../src/cli/explain.ts'
import { runReport } from '../../src/cli/report.ts'
import { runRequeue } from '../../src/cli/requeue.ts'
import { runStatus } from '../../src/cli/status.ts'
import { portolan } from '../cli/portolan.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'

/** Clears the screen, sets the clipboard, links elsewhere, in seven and in eight bits; turns the line around; ends it. */
const NASTY =
  '\u001b[2J\u001b]52;c;ZXZpbA==\u0007\u001b]8;;http://evil.test/\u001b\\x\u009b31m\u009d0;t\u009c\u202egpj\u2066\u0007\b'
const TAGS = '<script>alert(1)</script><img src=x onerror=alert(2)>"\'>'
const INJECTED = 'WARC/1.1 WARC-Type: response WARC-Target-URI: http://evil.test/'
const latin1 = Buffer.from(NASTY).toString('latin1')

/** Every place a site can write into. */
function answer(path: string): string {
  const links = `<a href="/gone${NASTY}${TAGS}">x</a><a href="/moved">x</a><a href="/no/x">x</a><a href="http://${NASTY}/">x</a>`
  const title = `<title>${NASTY}${TAGS.replaceAll('<', '&lt;')}</title>`
  const body = Buffer.from(`<html lang="${NASTY}">${title}<link rel=canonical href="/${NASTY}">${links}`).toString(
    'latin1',
  )
  const server = `Server: evil${latin1.replaceAll(/[\0\r\n]/g, '')}${TAGS}\r\nX-Robots-Tag: noindex, ${TAGS}\r\n`
  const head = (status: string, type: string, more = ''): string =>
    `HTTP/1.1 ${status}${latin1}\r\n${server}Content-Type: ${type}${latin1}\r\n${more}`
  const whole = (start: string, text: string): string =>
    `${start}Content-Length: ${text.length}\r\nConnection: close\r\n\r\n${text}`
  if (path === '/robots.txt')
    return whole(head('200 OK', 'text/plain'), `User-agent: *\nDisallow: /no/${latin1}*\nDisallow: /no/`)
  if (path === '/') return whole(head('200 OK', 'text/html'), body)
  if (path === '/moved') return whole(head('301 Moved', 'text/html', `Location: /${latin1}${TAGS}\r\n`), INJECTED)
  return whole(head('404 Gone', `text/html;${TAGS}`), body)
}

const server = createServer((socket: Socket) => {
  socket.on('error', () => {})
  socket.once('data', (request) => {
    socket.end(Buffer.from(answer(/^GET (\S+)/.exec(request.toString('latin1'))?.[1] ?? ''), 'latin1'))
  })
})
let dir = ''
let site = ''
let remove = (): void => {}
let told = { stdout: '', stderr: '' }

beforeAll(async () => {
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  site = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  dir = temporaryDirectory((fn) => (remove = fn))
  const flags = [
    '--allow-private',
    '--delay',
    '0ms',
    '--retries',
    '0',
    '--agents',
    '1',
    '--warc',
    'none',
    '--max-time',
    '20s',
  ]
  told = await portolan(['crawl', site, `${site}no/${encodeURI(TAGS)}`, '--dir', dir, '--progress', 'plain', ...flags])
})
afterAll(() => {
  server.close()
  remove()
})

/** C0 but for line ends and tabs, C1, and what turns text around. */
const ACTS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

async function said(run: (args: string[], streams: Streams) => Promise<number>, ...args: string[]): Promise<string> {
  let text = ''
  const stream = { write: (more: string): number => (text += more).length }
  await run(args, { stdout: stream, stderr: stream })
  return text
}
type Streams = Parameters<typeof runReport>[1] & Parameters<typeof runStatus>[1]

describe('a hostile site', () => {
  test('was heard', () => {
    const pages = readFileSync(join(dir, 'pages.jsonl'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(pages.length).toBeGreaterThanOrEqual(3)
    expect(JSON.stringify(pages)).toContain('evil')
    expect(readFileSync(join(dir, 'failures.jsonl'), 'utf8')).toContain('"robots"')
  })

  test('does not act on the terminal of who crawls', () => {
    expect(told.stderr).not.toMatch(ACTS)
    expect(told.stdout).not.toMatch(ACTS)
    expect(told.stderr).not.toBe('')
  })

  test('nor of who looks later', async () => {
    const urls = [...readFileSync(join(dir, 'pages.jsonl'), 'utf8').matchAll(/"url":"([^"]+)"/g)].map(
      ([, url]) => url ?? '',
    )
    const texts = [
      await said(runReport, dir),
      await said(runStatus, dir),
      await said(runRequeue, dir),
      await said(runExplain, `${site}no/${NASTY}`, '--dir', dir),
      ...(await Promise.all(urls.map((url) => said(runExplain, url, '--dir', dir)))),
    ]
    for (const text of texts) {
      expect(text).not.toMatch(ACTS)
      expect(text).not.toBe('')
    }
  })

  test('puts no line into a file of lines', () => {
    for (const name of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:jsonl|cdxj)$/.test(name)) continue
      for (const line of readFileSync(join(dir, name), 'utf8').split('\n')) {
        if (line === '') continue
        expect(line).not.toMatch(/[\u0000-\u001f]/)
        const json = name.endsWith('.cdxj') ? line.slice(line.indexOf('{')) : line
        expect(() => JSON.parse(json) as unknown).not.toThrow()
      }
    }
  })

  test('puts no record into the archive, and no field into a record', () => {
    const name = readdirSync(join(dir, 'archive')).find((one) => one.endsWith('.warc')) ?? ''
    const bytes = readFileSync(join(dir, 'archive', name))
    const targets: string[] = []
    for (let at = 0; at < bytes.length;) {
      const end = bytes.indexOf('\r\n\r\n', at)
      const fields = bytes.toString('latin1', at, end).split('\r\n')
      expect(fields[0]).toBe('WARC/1.1')
      // Names of fields, each once: a second would be somebody else's.
      const names = fields.slice(1).map((field) => field.slice(0, field.indexOf(':')))
      expect(new Set(names).size).toBe(names.length)
      targets.push(...fields.filter((field) => field.startsWith('WARC-Target-URI: ')))
      const length = Number(/^Content-Length: (\d+)$/m.exec(fields.join('\n'))?.[1])
      at = end + 4 + length
      expect(bytes.toString('latin1', at, at + 4)).toBe('\r\n\r\n')
      at += 4
    }
    expect(targets.length).toBeGreaterThan(4)
    expect(targets.filter((target) => !target.startsWith(`WARC-Target-URI: ${site}`))).toEqual([])
  })

  test('puts no tag into the report, which could not run one either', () => {
    const html = readFileSync(join(dir, 'report.html'), 'utf8')
    expect(html).toMatch(/Content-Security-Policy" content="default-src (?:'|&#39;)none/)
    expect(html).not.toMatch(/<script>alert|<img src=x|onerror=alert\(2\)>"/)
    expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/)
    expect(html).not.toMatch(/href="(?!https?:|#|data:|pages\.jsonl|failures\.jsonl|archive|crawl\.json)/)
  })
})
