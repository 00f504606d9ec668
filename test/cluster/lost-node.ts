// A machine that is lost for ever, by real processes: node b is killed, its directory deleted, and the crawl told of it. What it had put on
// the shelf stays; everything else is fetched again. Judged by what the others have, and by the shelf.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PageRecord } from '../../src/store/index.ts'
import { checkWarcFile } from '../warc-check.ts'
import { RealCluster } from './real-cluster.ts'

export interface LostNodeVerdict {
  readonly problems: readonly string[]
  /** What `cluster remove --lost` said. */
  readonly said: string
  readonly status: string
  readonly pages: number
  /** On the shelf, written by the lost node. */
  readonly kept: number
  readonly againRequests: number
  readonly story: string
}

export interface LostNodePlan {
  readonly hosts: number
  readonly pages: number
  readonly hasShelf: boolean
  /** Requests that were made when the node dies; null where the crawl has ended by then. */
  readonly killAt: number | null
}

export async function loseANode({ hosts, pages, hasShelf, killAt }: LostNodePlan): Promise<LostNodeVerdict> {
  const shelf = join(process.env['TMPDIR'] ?? '/tmp', `portolan-shelf-${process.pid}-${Date.now()}`)
  mkdirSync(shelf)
  await using cluster = await RealCluster.start({
    web: { hosts, pages, crossHostShare: 0.3, meanBytes: 4_000 },
    seeds: hosts,
    shares: 4,
    leaseMs: 5_000,
    delayMs: 60,
    flags: hasShelf ? ['--archive-to', pathToFileURL(shelf).href, '--warc-size', '64KiB'] : [],
  })
  try {
    for (const name of ['a', 'b', 'c']) cluster.start(name)
    await cluster.settled()
    const problems: string[] = []
    if (killAt === null) await cluster.finished()
    else await killB(cluster, killAt, hasShelf ? shelf : null, problems)
    rmSync(cluster.node('b').dir, { recursive: true })
    const lost = await cluster.command('remove', ['b', '--lost'])
    const status = (await cluster.command('status')).stdout
    const before = cluster.web.log.length
    if (killAt === null) for (const name of ['a', 'c']) cluster.start(name)
    await cluster.finished()
    const kept = judge(cluster, hasShelf ? shelf : null, problems)
    return {
      problems,
      said: lost.stderr,
      status,
      pages: cluster.web.truth({ seeds: cluster.seeds, scope: 'any' }).pages.size,
      kept,
      againRequests: cluster.web.log.length - before,
      story: cluster.story(40),
    }
  } finally {
    rmSync(shelf, { recursive: true, force: true })
  }
}

async function killB(cluster: RealCluster, killAt: number, shelf: string | null, problems: string[]): Promise<void> {
  await cluster.asked(killAt)
  if (shelf !== null) {
    await cluster.until('a file of b on the shelf', () => filesOn(shelf).some((name) => OF_B.test(name)))
  }
  const refused = await cluster.tryCommand('remove', ['b', '--lost'])
  if (refused.code === 0 || !refused.stderr.includes('is alive')) {
    problems.push(`a living node was taken for lost: ${refused.stderr}`)
  }
  await cluster.node('b').kill()
}

const OF_B = /-b-\d+-\d+\.warc/

function filesOn(shelf: string): string[] {
  return readdirSync(shelf, { recursive: true }) as string[]
}

/** Every page's last line leads to its record, in a file that is there. */
function judge(cluster: RealCluster, shelf: string | null, problems: string[]): number {
  const places = ['a', 'c'].map((name) => cluster.node(name).dir)
  const folder = shelf === null ? null : readdirSync(shelf).map((name) => join(shelf, name))[0]
  if (folder !== undefined && folder !== null) places.push(folder)
  const records = new Map<string, ReadonlyMap<number, { url: string | null; type: string }>>()
  const recordsIn = (file: string): ReadonlyMap<number, { url: string | null; type: string }> | null => {
    const known = records.get(file)
    if (known !== undefined) return known
    const path = places.map((dir) => join(dir, file)).find((one) => existsSync(one))
    if (path === undefined) return null
    const checked = checkWarcFile(path)
    for (const problem of checked.problems.slice(0, 3)) problems.push(`${file}: ${problem}`)
    const found = new Map(
      checked.records.map((one) => [one.offset, { url: one.field('WARC-Target-URI'), type: one.type }]),
    )
    records.set(file, found)
    return found
  }
  const last = new Map<string, PageRecord>()
  for (const name of ['a', 'c']) {
    const path = join(cluster.node(name).dir, 'pages.jsonl')
    if (!existsSync(path)) continue
    for (const line of readFileSync(path, 'utf8').split('\n').slice(0, -1)) {
      const page = JSON.parse(line) as PageRecord
      last.set(page.url, page)
    }
    for (const entry of readdirSync(join(cluster.node(name).dir, 'archive'))) {
      if (entry.endsWith('.open')) problems.push(`${name}: ${entry} is not finished`)
    }
  }
  if (shelf !== null) {
    const there = new Set(filesOn(shelf).map((name) => name.replace(/^[^/]+\//, '')))
    for (const name of ['a', 'c']) {
      for (const file of [`pages-${name}.jsonl`, `archive/index-${name}.cdxj`]) {
        if (!there.has(file)) problems.push(`${file} is not on the shelf`)
      }
      for (const entry of readdirSync(join(cluster.node(name).dir, 'archive'))) {
        if (entry.includes('.warc') && !there.has(`archive/${entry}`)) problems.push(`${entry} is not on the shelf`)
      }
    }
  }
  for (const url of cluster.web.truth({ seeds: cluster.seeds, scope: 'any' }).pages.keys()) {
    const page = last.get(url)
    if (page === undefined) problems.push(`${url} is missing`)
    else if (page.warc !== null) {
      const record = recordsIn(page.warc.file)?.get(page.warc.offset)
      if (record?.url !== url) problems.push(`${url} is not in ${page.warc.file}`)
    }
  }
  return [...last.values()].filter(({ warc }) => warc !== null && OF_B.test(warc.file)).length
}
