// A node that is killed, and comes back to find its share elsewhere: the file that it had begun is finished, and has every page that is
// said to be in it.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PageRecord } from '../../src/store/index.ts'
import { checkWarcFile } from '../warc-check.ts'
import { RealCluster } from './real-cluster.ts'

export interface LeftBehindVerdict {
  readonly problems: readonly string[]
  /** Files that were left, and pages in them. */
  readonly files: number
  readonly pages: number
}

export async function leaveBehind(): Promise<LeftBehindVerdict> {
  await using cluster = await RealCluster.start({
    web: { hosts: 12, pages: 40, meanBytes: 4_000 },
    seeds: 12,
    shares: 4,
    leaseMs: 5_000,
    delayMs: 60,
  })
  const problems: string[] = []
  for (const name of ['a', 'b']) cluster.start(name)
  await cluster.settled()
  await cluster.asked(150)
  await cluster.kill('b')
  const folder = join(cluster.node('b').dir, 'archive')
  const left = readdirSync(folder).filter((name) => name.endsWith('.open'))
  if (left.length === 0) problems.push('nothing was left')
  // It comes back to do nothing.
  await cluster.command('drain', ['b'])
  cluster.start('b')
  await cluster.until('files that were left to be finished', () => !readdirSync(folder).some(isOpen))
  await cluster.finished()
  const pages = ['a', 'b'].flatMap((name) => pagesOf(cluster.node(name).dir))
  let found = 0
  for (const name of left) {
    const file = `archive/${name.slice(0, -'.open'.length)}`
    const path = join(cluster.node('b').dir, file)
    const own = pages.filter(({ warc }) => warc?.file === file)
    if (!existsSync(path)) {
      if (own.length > 0) problems.push(`${own.length} pages should be in ${file}, which is not there`)
      continue
    }
    const { records, problems: complaints } = checkWarcFile(path)
    for (const problem of complaints.slice(0, 3)) problems.push(`${file}: ${problem}`)
    const urls = new Map(records.map((record) => [record.offset, record.field('WARC-Target-URI')]))
    for (const { url, warc } of own) {
      if (urls.get(warc?.offset ?? -1) === url) found++
      else problems.push(`${url} is not in ${file}`)
    }
  }
  return { problems, files: left.length, pages: found }
}

function isOpen(name: string): boolean {
  return name.endsWith('.open')
}

function pagesOf(dir: string): PageRecord[] {
  const path = join(dir, 'pages.jsonl')
  if (!existsSync(path)) return []
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line) as PageRecord)
}
