// Crawlee's CheerioCrawler, as its manual has it and as bare as can be. It is no dependency of this project, so it lives in a folder of its own.

import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contender } from './contender.ts'

/** Pinned, so that figures can be had again. */
export const CRAWLEE_PACKAGE = '@crawlee/cheerio@3.18.1'

const crawler = fileURLToPath(new URL('crawlee-crawler.mjs', import.meta.url))

/** Where Crawlee is looked for, and put by `install.ts`. */
export function crawleeFolder(): string {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'portolan-peers')
}

const SETTINGS = {
  manual:
    'CheerioCrawler with enqueueLinks(), 64 at once, storage in memory; no sessions, retries, header generator or log',
  bare: 'CheerioCrawler, 64 at once, storage in memory, known links left out by a set of our own; no sessions, retries, header generator or log',
}

export function crawlee(way: keyof typeof SETTINGS, folder = crawleeFolder()): Contender {
  const manifest = join(folder, 'node_modules/@crawlee/cheerio/package.json')
  return {
    name: way === 'manual' ? 'crawlee' : `crawlee, ${way}`,
    keeps: 'nothing',
    version: existsSync(manifest) ? (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version : null,
    isSlow: true,
    settings: SETTINGS[way],
    run: ({ seedFile, dir }) => ({
      command: process.execPath,
      args: [crawler, folder, seedFile, way],
      cwd: dir,
      env: { CRAWLEE_LOG_LEVEL: 'OFF' },
    }),
    countPages: (_, { stdout }) => (JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as { pages: number }).pages,
  }
}
