// A disk that fills up in the middle: the crawl stops and says so, tells only what is committed, and
// goes on to the whole truth when there is room.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startTestWeb } from '../../testweb/index.ts'
import { checkArchive } from '../archive-check.ts'
import { portolan } from './portolan.ts'
import { canMountSmallDisk, mountSmallDisk, unmount } from '../small-disk.ts'

describe.skipIf(!canMountSmallDisk())('a full disk (left out where no small disk can be mounted)', () => {
  test.for(['gzip', 'none', 'off'])(
    '--warc %s: stops with 5, tells what is committed, and goes on when there is room',
    async (warc) => {
      const disk = mountSmallDisk(warc === 'off' ? '1536k' : '3m') ?? ''
      onTestFinished(() => unmount(disk))
      const web = await startTestWeb({
        hosts: 6,
        pages: warc === 'off' ? 600 : 250,
        meanBytes: warc === 'off' ? 2_000 : 14_000,
      })
      onTestFinished(() => web.stop())
      const dir = join(disk, 'crawl')
      const args = [
        'crawl',
        ...web.seeds(),
        '--dir',
        dir,
        '--allow-private',
        '--delay',
        '0ms',
        '--warc',
        warc,
        '--json',
      ]
      const full = await portolan(args)
      expect(full.code, full.stderr).toBe(5)
      const told = JSON.parse(full.stdout) as Record<string, number | string>
      expect(told).toMatchObject({ stoppedBecause: 'disk-full' })
      expect(full.stderr).toContain('no space left')
      expect(full.stderr).not.toContain('report.html')
      expect(told['urlsSeen']).toBe(Number(told['pages']) + Number(told['failed']) + Number(told['waiting']))

      spawnSync('mount', ['-o', 'remount,size=256m', disk])
      const went = await portolan(args)
      expect(went.code, went.stderr).toBe(0)
      expect(JSON.parse(went.stdout)).toMatchObject({ stoppedBecause: 'finished', pages: web.truth().pages.size })
      const urls = readFileSync(join(dir, 'pages.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { url: string }).url)
      expect(urls.toSorted()).toEqual([...web.truth().pages.keys()].toSorted())
      if (warc !== 'off') expect(checkArchive(dir).problems).toEqual([])
    },
  )
})
