// The archive goes where --archive-to says, from the front door: a store that is down costs nothing but an exit code, and the
// same command goes on with what is not there yet.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { runStatus } from '../../src/cli/status.ts'
import { loadShipped, type PageRecord } from '../../src/store/index.ts'
import { freePort } from '../crawl/nginx.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import { ACCESS_KEY, S3Server, SECRET_KEY } from '../s3-server.ts'
import { portolan } from './portolan.ts'

const PAGES = 30

async function startSite(): Promise<string> {
  const server = createServer((request, response) => {
    const links = Array.from({ length: PAGES }, (_, one) => `<a href="/${one}">${one}</a>`).join('')
    response.writeHead(200, { 'content-type': 'text/html' }).end(`${request.url} ${links}`)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

interface Summary {
  readonly pages: number
  readonly archive: Record<'shipped' | 'onlyHere' | 'onlyThere', { files: number; bytes: number }> & {
    readonly to: string | null
    readonly missing: readonly string[]
    readonly trouble: string | null
  }
  readonly options: unknown
}

test('what a store that is down has not taken is taken when it is back, and nothing is lost between', async () => {
  const seed = await startSite()
  const folder = temporaryDirectory(onTestFinished)
  const dir = join(folder, 'crawl')
  const environment = { AWS_ACCESS_KEY_ID: ACCESS_KEY, AWS_SECRET_ACCESS_KEY: SECRET_KEY, PORTOLAN_WARC_SIZE: '8KiB' }
  const common = ['--allow-private', '--delay', '0ms', '--agents', '1', '--archive-to', 's3://crawls/deep/er', '--json']
  const down = `http://127.0.0.1:${await freePort()}`

  const first = await portolan(
    ['crawl', seed, '--dir', dir, ...common, '--archive-endpoint', down, '--archive-patience', '1ms'],
    { environment },
  )
  expect([first.code, first.stderr]).toEqual([7, expect.stringContaining('The crawl goes on, and so do the tries.')])
  const before = JSON.parse(first.stdout) as Summary
  expect(before.pages).toBe(PAGES + 1)
  expect(before.archive.shipped.files).toBe(0)
  expect(before.archive.onlyHere.files).toBeGreaterThan(2)
  expect(before.archive.missing).toEqual(['archive/index.cdxj', 'pages.jsonl'])
  expect(before.archive.trouble).toContain('ECONNREFUSED')

  const server = await S3Server.start()
  onTestFinished(() => server[Symbol.asyncDispose]())
  const second = await portolan(
    ['crawl', '--dir', dir, ...common, '--archive-endpoint', server.endpoint, '--archive-keep=false'],
    { environment },
  )
  expect([second.code, server.badSignatures]).toEqual([0, []])
  const after = JSON.parse(second.stdout) as Summary
  expect(after.archive.shipped).toEqual(before.archive.onlyHere)
  expect(after.archive.onlyThere).toEqual(after.archive.shipped)
  expect(after.archive).toMatchObject({ onlyHere: { files: 0 }, missing: [], trouble: null })

  // What is there looks like the crawl's directory: every page leads to its record.
  const to = after.archive.to ?? ''
  expect(to).toMatch(/^s3:\/\/crawls\/deep\/er\/127\.0\.0\.1_?\d*-\d{14}\/$/)
  const at = (name: string): Buffer => server.objects.get(`${to.slice('s3://crawls/'.length)}${name}`)?.body as Buffer
  const pages = at('pages.jsonl').toString().trim().split('\n')
  expect(pages).toHaveLength(PAGES + 1)
  for (const { warc } of pages.map((line) => JSON.parse(line) as PageRecord)) {
    const { file = '', offset = 0, length = 0 } = warc ?? {}
    expect(
      at(file)
        .subarray(offset, offset + 2)
        .toString('hex'),
    ).toBe('1f8b')
    expect(at(file).length).toBeGreaterThanOrEqual(offset + length)
    expect(existsSync(join(dir, file))).toBe(false)
  }
  expect(at('archive/index.cdxj').equals(readFileSync(join(dir, 'archive/index.cdxj')))).toBe(true)
  expect(readdirSync(join(dir, 'archive'))).toEqual(['index.cdxj'])
  expect((await loadShipped(dir)).size).toBe(after.archive.shipped.files + 2)

  let out = ''
  await runStatus([dir], { stdout: { write: (text) => (out += text) }, stderr: { write: () => {} } })
  expect(out).toContain(`${after.archive.shipped.files} files`)
  expect(out).toContain(to)
  const said = [first, second].flatMap(({ stdout, stderr }) => [stdout, stderr])
  const kept = ['crawl.json', 'report.html', 'state/settings.json', 'state/shipped.jsonl'].map((name) =>
    readFileSync(join(dir, name), 'utf8'),
  )
  for (const text of [...said, ...kept]) expect(text).not.toContain(SECRET_KEY)
})
