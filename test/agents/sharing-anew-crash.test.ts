// Sharing a crawl anew among other agents ends in the middle: the next start finds all of the old shares or all of the new
// ones, and goes on to the whole truth.

import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { Fault, systemClock } from '../../src/base/index.ts'
import { RESHARE_STEPS, reshare } from '../../src/supervise/reshare.ts'
import { loadLayout } from '../../src/view/index.ts'
import type { TestWeb } from '../../testweb/index.ts'
import { startPortolan } from '../cli/portolan.ts'
import { directory, expectTruth, startWeb } from '../crawl/expect-truth.ts'
import { crawl, FAST, newIdentity, settingsOf } from '../crawl/run-crawl.ts'
import { canMountSmallDisk, mountSmallDisk, unmount } from '../small-disk.ts'

const TIMEOUT = { timeout: 300_000 }

/** A crawl that stopped in the middle; with an archive, because that has files of its own to be finished. */
async function begun(web: TestWeb, dir: string, agents: number): Promise<readonly string[] | null> {
  const flags = { ...FAST, warc: 'gzip', 'max-pages': '40' }
  const { reason } = await crawl({ seeds: web.seeds(), dir, flags, agents })
  expect(reason).toBe('max-pages')
  return await loadLayout(dir)
}

function planOf(dir: string, from: readonly string[] | null, to: readonly string[]): Parameters<typeof reshare>[0] {
  return {
    dir,
    from,
    to,
    settings: settingsOf({ ...FAST, warc: 'gzip' }),
    clock: systemClock,
    identity: newIdentity(),
    software: 'Portolan/test',
    environment: {},
    onBegin: () => {},
  }
}

/** Goes on with so many agents, to the whole truth, and nothing of any other share is left. */
async function expectGoesOn(dir: string, web: TestWeb, agents: number): Promise<void> {
  const result = await crawl({ seeds: [], dir, flags: { ...FAST, warc: 'gzip' }, agents })
  expectTruth(result, web.truth())
  const urls = result.pages.map((page) => page.url)
  expect(new Set(urls).size).toBe(urls.length)
  const shares = (await loadLayout(dir)) ?? []
  expect(shares).toHaveLength(agents)
  expect(readdirSync(join(dir, 'state/agents')).sort()).toEqual(shares.map((name) => basename(name)).sort())
  expect(readdirSync(join(dir, 'state'))).not.toContain('journal')
  expect(readdirSync(join(dir, 'state'))).not.toContain('resharing.json')
}

describe('the process ends after any step', TIMEOUT, () => {
  test.for([
    [1, 2, ['made', 'flipped']],
    [2, 3, RESHARE_STEPS],
  ] as const)('from %d agents to %d', async ([before, after, steps]) => {
    const web = await startWeb({ seed: 'crash', hosts: 6, pages: 15 })
    const dir = directory()
    const from = await begun(web, dir, before)
    const to = Array.from({ length: after }, (_, agent) => `state/agents/2-${agent}`)
    const copies = directory()
    // As the disk is in that moment: whatever was written before is there, whatever is open is in the middle of its work.
    await reshare({
      ...planOf(dir, from, to),
      onStep: (step) => cpSync(dir, join(copies, step), { recursive: true }),
    })
    expect(readdirSync(copies).sort()).toEqual([...RESHARE_STEPS].sort())
    for (const step of steps) {
      const isFlipped = step === 'flipped'
      expect(await loadLayout(join(copies, step)), step).toEqual(isFlipped ? to : from)
      await expectGoesOn(join(copies, step), web, after)
    }
  })

  test('the crawl before it was killed in the middle of its work: the journals say what happened last', async () => {
    // Sixty answers in a row of 40 ms each: what people read is brought up to date every second, so twice before the end.
    const web = await startWeb({ seed: 'killed', hosts: 10, pages: 60, latencyMs: 40 })
    const dir = directory()
    const args = ['--allow-private', '--delay', '0ms', '--warc', 'gzip', '--agents', '2', '--progress', 'none']
    const { child, finished } = startPortolan(['crawl', ...web.seeds(), '--dir', dir, ...args])
    const pages = join(dir, 'pages.jsonl')
    const watch = setInterval(() => {
      if (existsSync(pages) && readFileSync(pages, 'utf8').split('\n').length > 60) child.kill('SIGKILL')
    }, 5)
    const { signal } = await finished
    clearInterval(watch)
    expect(signal).toBe('SIGKILL')
    const before = readFileSync(pages, 'utf8').trimEnd().split('\n')
    expect(before.length).toBeLessThan(web.truth().pages.size)
    await expectGoesOn(dir, web, 3)
    for (const line of before) {
      const { url } = JSON.parse(line) as { url: string }
      expect(web.requests(url), url).toBe(1)
    }
  })

  test('the number it had is as good: what was begun is thrown away', async () => {
    const web = await startWeb({ seed: 'crash', hosts: 6, pages: 15 })
    const dir = directory()
    const from = await begun(web, dir, 2)
    const broken = reshare({
      ...planOf(dir, from, ['state/agents/2-0']),
      onStep: (step) => {
        if (step === 'arrived') throw new Error('broken')
      },
    })
    await expect(broken).rejects.toThrow('broken')
    expect(readdirSync(join(dir, 'state/agents')).sort()).toEqual(['0', '1', '2-0'])
    await expectGoesOn(dir, web, 2)
  })

  test('removing the old shares ends half-way: the rest goes with the next start', async () => {
    const web = await startWeb({ seed: 'crash', hosts: 6, pages: 15 })
    const dir = directory()
    const from = await begun(web, dir, 1)
    const broken = reshare({
      ...planOf(dir, from, ['state/agents/2-0', 'state/agents/2-1']),
      onStep: (step) => {
        if (step !== 'flipped') return
        rmSync(join(dir, 'state/journal'), { recursive: true })
        rmSync(join(dir, 'state/seeds.jsonl'))
        throw new Error('broken')
      },
    })
    await expect(broken).rejects.toThrow('broken')
    await expectGoesOn(dir, web, 2)
    expect(readdirSync(join(dir, 'state'))).not.toContain('frontier')
  })
})

describe.skipIf(!canMountSmallDisk())('a full disk (left out where no small disk can be mounted)', TIMEOUT, () => {
  test('leaves the crawl as it was, and nothing of the new shares', async () => {
    const web = await startWeb({ seed: 'crash', hosts: 6, pages: 15, meanBytes: 3_000 })
    const disk = mountSmallDisk('64m') ?? ''
    onTestFinished(() => unmount(disk))
    const dir = join(disk, 'crawl')
    const from = await begun(web, dir, 2)
    const { blocks, bfree, bsize } = statfsSync(disk)
    const usedKiB = Math.ceil(((blocks - bfree) * bsize) / 1_024)
    // Room for the beginning of it, never for all.
    spawnSync('mount', ['-o', `remount,size=${usedKiB + 100}k`, disk])
    const full = await crawl({ seeds: [], dir, flags: { ...FAST, warc: 'gzip' }, agents: 3 }).catch(
      (fault: unknown) => fault,
    )
    expect(full).toBeInstanceOf(Fault)
    expect(full).toMatchObject({ code: 'DISK_FULL' })
    expect(await loadLayout(dir)).toEqual(from)
    expect(readdirSync(join(dir, 'state/agents')).sort()).toEqual(['0', '1'])
    spawnSync('mount', ['-o', 'remount,size=64m', disk])
    await expectGoesOn(dir, web, 3)
  })
})
