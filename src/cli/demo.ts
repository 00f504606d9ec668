// portolan demo: a small web on this machine, crawled from start to end, offline. What a stranger sees first.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ForkedTestWeb } from '../../testweb/index.ts'
import { type FlagValue, readConfig, SECTIONS } from '../config/index.ts'
import { canonicalise, type CanonicalUrl } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { printProblems, readOwnArguments } from './config-flags.ts'
import { runCrawl } from './run-crawl.ts'

const FLAGS = new Map([
  ['json', { takesValue: false, repeats: false }],
  ['dir', { takesValue: true, repeats: false }],
])

export const demoCommand: Command = {
  usage: 'demo [--dir DIR] [--json]',
  examples: [
    { command: 'portolan demo', what: 'a few seconds; then open the report it names' },
    { command: 'portolan demo --json', what: 'the same, with the result as JSON on standard output' },
  ],
  details: () =>
    'The web has 24 hosts with some 1,700 pages, redirects, errors, slow answers, several languages and charsets,\n' +
    'servers that ask for a pause, and robots.txt files of many kinds. It is served on 127.0.0.0/8.',
  run: async (args) => {
    const { flags, words, problems } = readOwnArguments(args, FLAGS)
    for (const word of words) problems.push({ where: `'${word}'`, what: 'demo takes no such argument' })
    if (problems.length > 0) {
      printProblems('demo', problems)
      return EXIT.usage.code
    }
    return demo(flags.get('dir') as string | undefined, flags.has('json'))
  },
}

async function demo(givenDir: string | undefined, isJson: boolean): Promise<number> {
  const config = readConfig(SECTIONS, {
    flags: new Map<string, FlagValue>([
      ['allow-private', true],
      ['delay', '20ms'],
      ['scope', 'host'],
    ]),
    environment: {},
    file: { name: 'demo', content: { frontier: { latencyFactor: 0, backoff: '200ms' } } },
  })
  if (config.kind === 'problems') throw new Error(JSON.stringify(config.problems))
  const dir = givenDir ?? (await mkdtemp(join(tmpdir(), 'portolan-demo-')))
  const web = await ForkedTestWeb.start({ seed: 'demo', hosts: 24, pages: 60, faults: 'mild', retryAfterS: 1 })
  try {
    const seeds = web.web.seeds().map((seed) => canonicalise(seed) as CanonicalUrl)
    return await runCrawl({
      dir,
      seeds,
      config: config.config,
      said: {},
      stored: {},
      progress: 'auto',
      isJson,
      warnings: [],
    })
  } catch (cause) {
    if (givenDir === undefined) await rm(dir, { recursive: true, force: true })
    throw cause
  } finally {
    await web.stop()
  }
}
