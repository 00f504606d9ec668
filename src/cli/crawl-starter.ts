// Crawls begun and gone on with by `portolan ui`: each is a process of its own, `portolan crawl --dir DIR`, which outlives the ui. What
// it says goes to DIR/state/ui.log. Neither options nor seeds are among its arguments, which everybody on the machine can read.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Crawl } from '../agent/index.ts'
import { diskFault, Fault } from '../base/index.ts'
import { controlSocketOf, type CrawlStarter } from '../control/index.ts'
import { lockDirectory, makeDirectory, whoHolds } from '../disk/index.ts'
import { printable } from '../report/index.ts'
import { hostKeyOf } from '../url/index.ts'
import { plansWithoutSeeds, storedConfig } from './crawl-directory.ts'
import { directoryNameOf } from './directory-name.ts'

/** A crawl of millions takes its time to open; who started it need not wait for all of it. */
const STARTING_MS_MAX = 20_000
const LOOK_EVERY_MS = 50
/** What a process that ended at once said, at most. */
const LAST_WORDS_MAX = 500

/** `launcher` is what this process was started with: bin/portolan.js. */
export function crawlStarter(launcher: string): CrawlStarter {
  return {
    nameOf: (seed) => directoryNameOf(hostKeyOf(seed)),
    async start({ dir, seeds, options }) {
      await makeDirectory(join(dir, 'state'))
      const folder = await mkdtemp(join(tmpdir(), 'portolan-'))
      try {
        const given = ['--dir', dir, '--progress', 'none']
        if (Object.keys(options).length > 0) {
          const file = join(folder, 'options.json')
          await writeFile(file, JSON.stringify(options), { mode: 0o600 })
          given.push('--config', file)
        }
        if (seeds.length > 0) given.push('--seeds', '-')
        return await launch(dir, [launcher, 'crawl', ...given], seeds.join('\n'))
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
    async preview(dir, url) {
      const settings = await storedConfig(dir)
      const lock = await lockDirectory(join(dir, 'state'))
      try {
        const previews = []
        for (const plan of await plansWithoutSeeds(dir, settings)) {
          const crawl = await Crawl.open(plan)
          try {
            previews.push(await crawl.previewScope(url))
          } finally {
            await crawl.close()
          }
        }
        return previews
      } finally {
        await lock.release()
      }
    },
  }
}

/** Resolves when the process can be spoken to; fails with its words where it ended before. */
async function launch(dir: string, args: readonly string[], input: string): Promise<string> {
  const path = join(dir, 'state/ui.log')
  const log = await open(path, 'a', 0o600).catch((cause: unknown) => {
    throw diskFault(`opening ${path}`, cause)
  })
  const from = (await log.stat()).size
  const child = spawn(process.execPath, args, { detached: true, stdio: ['pipe', log.fd, log.fd] })
  child.unref()
  // One that ends at once does not read; why, it says itself.
  child.stdin?.on('error', () => undefined)
  child.stdin?.end(input)
  const ended = once(child, 'exit')
  ended.catch(() => undefined)
  await log.close()
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null
  for (let waitedMs = 0; waitedMs < STARTING_MS_MAX && !isOver(); waitedMs += LOOK_EVERY_MS) {
    // It can be spoken to: from then on it is what it says of itself.
    const holder = await whoHolds(join(dir, 'state'))
    if (holder !== null && (await controlSocketOf(dir, holder.pid)) !== null) {
      return `It runs, as process ${child.pid}; what it says is in ${path}.`
    }
    await sleep(LOOK_EVERY_MS)
  }
  if (!isOver()) return `It is being opened, as process ${child.pid}; what it says is in ${path}.`
  await ended
  const { exitCode: code } = child
  if (code === 0) return 'It had nothing left to do.'
  const words = (await readFile(path)).subarray(from).toString('utf8').trim()
  throw new Fault(
    'CONTROL_REFUSED',
    `the crawl did not start: ${printable(words.slice(-LAST_WORDS_MAX)) || `exit code ${code}`}`,
  )
}
