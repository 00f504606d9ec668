// Crawls worth killing: each has a web, a command, and what must hold of it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Random } from '../../src/base/index.ts'
import { startTestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { judgeLives, type KillFigures } from './judge-lives.ts'
import { judgeResult } from './judge-result.ts'
import { killAgainAndAgain } from './killed-crawl.ts'

export interface CrashVariant {
  readonly web: TestWebOptions & { readonly hosts: number }
  readonly flags: readonly string[]
  /** One where nothing is said. */
  readonly agents?: number
  /** As in a configuration file. */
  readonly config?: Readonly<Record<string, unknown>>
  readonly delayMs?: number
  readonly maxPages?: number
  readonly retryAfterMs?: number
  readonly requestsPerLife: number
}

export const CRASH_VARIANTS = {
  gzip: { web: { hosts: 8, pages: 150, faults: 'mild' }, flags: ['--warc', 'gzip'], requestsPerLife: 300 },
  plain: { web: { hosts: 12, pages: 100, latencyMs: 2 }, flags: ['--warc', 'none'], requestsPerLife: 250 },
  off: { web: { hosts: 8, pages: 150, faults: 'mild' }, flags: ['--warc', 'off'], requestsPerLife: 300 },
  // Small files: a kill meets a file that is being finished, too.
  rotating: {
    web: { hosts: 8, pages: 150, faults: 'mild' },
    flags: ['--warc', 'gzip', '--warc-size', '1MiB'],
    requestsPerLife: 300,
  },
  polite: {
    web: { hosts: 10, pages: 25, latencyMs: 3 },
    flags: ['--warc', 'gzip'],
    delayMs: 60,
    requestsPerLife: 60,
  },
  throttled: {
    web: {
      hosts: 10,
      pages: 40,
      variants: { 'throttled-seconds': 0.05, lost: 0.02, busy: 0.02 },
      retryAfterS: 1,
    },
    flags: ['--warc', 'none'],
    config: { frontier: { backoff: '5ms', backoffMax: '20ms' } },
    retryAfterMs: 1_000,
    requestsPerLife: 120,
  },
  limited: { web: { hosts: 8, pages: 400 }, flags: ['--warc', 'gzip'], maxPages: 1_200, requestsPerLife: 300 },
  // More waits than fits the least memory: checkpoints of the frontier are written while it crawls.
  spilling: {
    web: { hosts: 300, pages: 2_000, linksPerPage: 100, meanBytes: 4_000, crossHostShare: 0.3, branching: 60 },
    flags: ['--warc', 'none', '--memory', '368MiB'],
    maxPages: 10_000,
    requestsPerLife: 5_000,
  },
  two: {
    web: { hosts: 8, pages: 150, faults: 'mild', crossHostShare: 0.3 },
    flags: ['--warc', 'gzip'],
    agents: 2,
    requestsPerLife: 300,
  },
  three: {
    web: { hosts: 12, pages: 100, latencyMs: 2, faults: 'mild', crossHostShare: 0.5 },
    flags: ['--warc', 'none', '--warc-size', '1MiB'],
    agents: 3,
    requestsPerLife: 250,
  },
  'polite-three': {
    web: { hosts: 10, pages: 25, latencyMs: 3, crossHostShare: 0.5 },
    flags: ['--warc', 'gzip'],
    agents: 3,
    delayMs: 60,
    requestsPerLife: 60,
  },
  'throttled-two': {
    web: {
      hosts: 10,
      pages: 40,
      variants: { 'throttled-seconds': 0.05, lost: 0.02, busy: 0.02 },
      retryAfterS: 1,
      crossHostShare: 0.5,
    },
    flags: ['--warc', 'none'],
    agents: 2,
    config: { frontier: { backoff: '5ms', backoffMax: '20ms' } },
    retryAfterMs: 1_000,
    requestsPerLife: 120,
  },
  'limited-three': {
    web: { hosts: 8, pages: 400, crossHostShare: 0.3 },
    flags: ['--warc', 'gzip'],
    agents: 3,
    maxPages: 1_200,
    requestsPerLife: 300,
  },
} as const satisfies Record<string, CrashVariant>

/** A third of a crawl, for tests that must be quick. */
export function third(variant: CrashVariant): CrashVariant {
  const { web, maxPages, requestsPerLife } = variant
  const smaller = { ...web, pages: Math.ceil((web.pages ?? 100) / 3) }
  const limit = maxPages === undefined ? {} : { maxPages: Math.ceil(maxPages / 3) }
  return { ...variant, ...limit, web: smaller, requestsPerLife: Math.ceil(requestsPerLife / 3) }
}

export interface CrashVerdict {
  readonly problems: readonly string[]
  readonly kills: readonly KillFigures[]
  /** Processes that were told to stop and did, before the kill came. */
  readonly stops: number
  readonly requests: number
  readonly pages: number
  readonly waiting: number
  readonly restsLost: number
  /** Pages that are taken for the first of their content and are not: several agents, and a claim that died. */
  readonly originalsTwice: number
}

/** Runs a crawl of the variant to its end over so many kills, in a directory of its own, and judges it. */
export async function crash(variant: CrashVariant, seed: string, killsMax: number): Promise<CrashVerdict> {
  const { flags, agents = 1, config, delayMs = 0, maxPages = null, retryAfterMs = null, requestsPerLife } = variant
  const web = await startTestWeb({ ...variant.web, seed })
  const folder = mkdtempSync(join(tmpdir(), 'portolan-crash-'))
  const dir = join(folder, 'crawl')
  try {
    writeFileSync(join(folder, 'config.json'), JSON.stringify(config ?? {}))
    const command = ['crawl', ...web.seeds(), '--dir', dir, '--config', join(folder, 'config.json'), '--allow-private']
    command.push('--delay', `${delayMs}ms`, '--progress', 'none', '--json', '--agents', String(agents), ...flags)
    if (maxPages !== null) command.push('--max-pages', String(maxPages))
    const { lives } = await killAgainAndAgain({
      web,
      command,
      dir,
      random: new Random(seed),
      killsMax,
      requestsPerLife,
    })
    const manners = judgeLives(web, lives, { delayMs, atOnce: Math.min(variant.web.hosts, 256), retryAfterMs })
    const result = await judgeResult(web, dir, maxPages)
    return {
      problems: [...manners.problems, ...result.problems],
      kills: manners.kills,
      stops: lives.filter(({ wasKilled }) => !wasKilled).length - 1,
      requests: web.log.length,
      pages: result.pages,
      waiting: result.waiting,
      restsLost: manners.restsLost,
      originalsTwice: result.originalsTwice,
    }
  } finally {
    await web.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}
