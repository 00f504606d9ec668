// portolan crawl: seeds in, a directory out.

import { totalmem } from 'node:os'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { formatBytes, REFUSALS } from '../base/index.ts'
import { type CrawlConfig, optionRows, type Problem, readArguments, readConfig, SECTIONS } from '../config/index.ts'
import { crawlBegun, loadNodeMark, type NodeMark } from '../view/index.ts'
import { type CanonicalUrl, compileScope, hostKeyOf, type UrlOptions } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { crawlFlagShapes, describeFlags, flagLine, loadConfigFile, printProblems } from './config-flags.ts'
import { directoryNameOf } from './directory-name.ts'
import { guard, isGuarded, liveUnderGuard, RESTARTS_MAX, sayEnded } from './guard.ts'
import { chooseLogForm } from './log-lines.ts'
import { refuseLogins } from './refuse-logins.ts'
import { readSeeds } from './read-seeds.ts'
import { loadSettings, mergeSaid, missingSettings, type Said } from './stored-settings.ts'
import type { ClusterWishes } from './crawl-in-cluster.ts'
import { readShares, SHARES_USUAL } from './share-count.ts'
import { type CrawlRequest, faultSummary, PROGRESS_MODES, type ProgressMode, runCrawl } from './run-crawl.ts'

interface GuardedRequest extends CrawlRequest {
  /** This process is to start another one that crawls, and to look after it. */
  readonly isToGuard: boolean
  /** Of the crawl in a cluster, where it is to be one. */
  readonly wishes: ClusterWishes
  readonly input: Buffer | null
}

/** Flags of the command itself; the options of the rooms come on top. */
const OWN_FLAGS = new Map([
  [
    'seeds',
    {
      takesValue: true,
      repeats: true,
      text: 'Read seeds from a file, one a line, # for comments; - is standard input.',
    },
  ],
  ['dir', { takesValue: true, repeats: false, text: 'Where everything goes, and where a crawl goes on from.' }],
  [
    'config',
    { takesValue: true, repeats: false, text: 'Read options from a file (.json or .ts); docs/config.md lists them.' },
  ],
  ['progress', { takesValue: true, repeats: false, text: 'auto|plain|none: live on a terminal, lines, or nothing.' }],
  [
    'log',
    {
      takesValue: true,
      repeats: false,
      text: 'text|json: what is told on standard error, for people or for programs.',
    },
  ],
  [
    'guard',
    {
      takesValue: false,
      repeats: false,
      text: 'Run the crawl in a process of its own, and start it again when that one is killed or out of memory.',
    },
  ],
  [
    'dashboard',
    {
      takesValue: false,
      repeats: false,
      text: 'Serve the dashboard while it runs, on this machine alone; prints its link.',
    },
  ],
  ['dashboard-port', { takesValue: true, repeats: false, text: 'The port of the dashboard.' }],
  ['crawl', { takesValue: true, repeats: false, text: 'With --nats: what the crawl is called in the cluster.' }],
  ['name', { takesValue: true, repeats: false, text: 'With --nats: what this node is called in the cluster.' }],
  [
    'shares',
    { takesValue: true, repeats: false, text: 'With --nats: in how many parts the crawl is cut, once and for all.' },
  ],
  ['json', { takesValue: false, repeats: false, text: 'Print the result as one JSON object on standard output.' }],
])

const PLACEHOLDERS: Readonly<Record<string, string>> = {
  progress: 'MODE',
  log: 'FORM',
  'dashboard-port': 'PORT',
  crawl: 'NAME',
  name: 'NAME',
  shares: 'NUMBER',
}
const FALLBACKS: Readonly<Record<string, string>> = {
  dir: './<host of the first seed>',
  progress: 'auto',
  log: 'text',
  'dashboard-port': 'any that is free',
  crawl: '<host of the first seed>',
  name: '<this machine>',
  shares: String(SHARES_USUAL),
}

export const crawlCommand: Command = {
  usage: 'crawl SEED… [--dir DIR] [options]',
  examples: [
    {
      command: 'portolan crawl https://example.org/',
      what: 'one site into ./example.org: WARC files, pages.jsonl, report.html',
    },
    { command: 'portolan crawl https://example.org/docs/ --scope prefix', what: 'only what lies under /docs/' },
    {
      command: 'portolan crawl --seeds sites.txt --dir archive --max-time 8h',
      what: 'many sites, stop after eight hours',
    },
    { command: 'portolan crawl --dir archive', what: 'go on with what was stopped, as it was meant' },
    {
      command: 'portolan crawl https://example.org/ --dashboard',
      what: 'with a page in the browser to watch and steer it',
    },
    {
      command: 'portolan crawl http://127.0.0.1:8080/ --allow-private --delay 0ms',
      what: 'a server of your own, at full speed',
    },
    {
      command: 'portolan crawl file:///srv/corpus/ --allow-files /srv/corpus --delay 0ms',
      what: 'files of this machine; ftp:, ftps: and gopher: are crawled too',
    },
  ],
  details() {
    const own = [...OWN_FLAGS].map(([flag, { takesValue, text }]) => ({
      flag: `--${flag}${takesValue ? ` ${PLACEHOLDERS[flag] ?? 'PATH'}` : ''}`,
      text,
      fallback: FALLBACKS[flag] ?? '',
    }))
    const rows = optionRows(SECTIONS).filter((row) => row.facts.flag !== undefined)
    return (
      `Options\n${describeFlags([...own, ...rows.map(flagLine)])}\n\n` +
      `none lifts a limit that the crawl remembers (--max-depth none); an empty text empties a list (--exclude '').\n` +
      `More can be set in a configuration file: docs/config.md. Ctrl-C stops cleanly; the same command goes on.\n` +
      `Exit codes: ${Object.values(EXIT)
        .map(({ code, text }) => `${code} ${text.split(';')[0]}`)
        .join(' · ')}`
    )
  },
  run: async (args) => {
    if (isGuarded()) liveUnderGuard()
    const request = await readRequest(args)
    // Problems are said; a guard that hears of the end does not try again.
    if (request === null) {
      await sayEnded()
      return EXIT.usage.code
    }
    if (request.isToGuard) return guardCrawl(request, args)
    if (request.config.engine.nats.length === 0) return runCrawl(request)
    const { crawlInCluster } = await import('./crawl-in-cluster.ts')
    return crawlInCluster(request, request.wishes)
  },
}

/** Reads arguments, environment, file and seeds; prints every problem at once and gives null if there are any. */
async function readRequest(args: readonly string[]): Promise<GuardedRequest | null> {
  const { flags, words, problems } = readArguments(args, new Map([...crawlFlagShapes(), ...OWN_FLAGS]))
  const own = (name: string): string | true | readonly string[] | undefined => {
    const value = flags.get(name)
    flags.delete(name)
    return value
  }
  const seedFiles = (own('seeds') ?? []) as readonly string[]
  const dir = own('dir') as string | undefined
  const configPath = own('config') as string | undefined
  const progress = (own('progress') ?? 'auto') as ProgressMode
  chooseLogForm(own('log') as string | undefined, problems)
  const isJson = own('json') !== undefined
  refuseLogins(flags, problems)
  const crawl = own('crawl') as string | undefined
  const name = own('name') as string | undefined
  const shares = readShares(own('shares') as string | undefined, problems)
  const dashboardPort = readDashboard(
    own('dashboard') !== undefined,
    own('dashboard-port') as string | undefined,
    problems,
  )
  const isToGuard = own('guard') !== undefined && !isGuarded()
  if (!PROGRESS_MODES.includes(progress)) {
    problems.push({ where: '--progress', what: `'${progress}' is not one of ${PROGRESS_MODES.join(', ')}` })
  }
  if (dir === '') problems.push({ where: '--dir', what: 'needs a name' })
  const loaded = configPath === undefined ? null : await loadConfigFile(configPath)
  if (loaded?.problem != null) problems.push(loaded.problem)
  // Each process under guard reads it anew.
  const input = isToGuard && seedFiles.includes('-') ? await buffer(process.stdin) : null
  const seeds = await readSeeds(words, seedFiles, input === null ? process.stdin : Readable.from([input]))
  // A bad seed among the arguments is a typing error; a bad line in a file of thousands is reported and left out.
  const isWordProblem = (problem: Problem): boolean =>
    problem.where.startsWith("seed '") || problem.where.startsWith('--seeds')
  problems.push(...seeds.problems.filter(isWordProblem))
  const warnings = seeds.problems.filter((problem) => !isWordProblem(problem))
  const [first] = seeds.urls
  const chosenDir = dir ?? (first === undefined ? undefined : directoryNameOf(hostKeyOf(first)))
  const isResumed = chosenDir !== undefined && (await crawlBegun(chosenDir))
  const mark = chosenDir === undefined ? null : await loadNodeMark(chosenDir)
  if (first === undefined && !isResumed && problems.length === 0) problems.push(noSeeds(chosenDir, warnings))

  const kept = chosenDir === undefined ? null : await loadSettings(chosenDir)
  const stored = kept ?? {}
  const result = readConfig(SECTIONS, { flags, environment: process.env, file: under(stored, loaded?.file ?? null) })
  if (result.kind === 'problems') problems.push(...result.problems)
  else {
    if (mark !== null && result.config.engine.nats.length === 0) problems.push(isOfCluster(chosenDir ?? '', mark))
    problems.push(...refusedSeeds(seeds.urls, result.config.url), ...tooMuchMemory(result))
    const isNothingSaid = first === undefined && Object.values(result.said).every((said) => isEmpty(said))
    if (isResumed && kept === null && isNothingSaid) problems.push(missingSettings(chosenDir))
  }
  if (problems.length > 0 || result.kind === 'problems' || chosenDir === undefined) {
    printProblems('crawl', problems)
    return null
  }
  const { config, said } = result
  return {
    dir: chosenDir,
    seeds: seeds.urls,
    config,
    said,
    stored,
    progress,
    isJson,
    warnings,
    ...(dashboardPort === null ? {} : { dashboardPort }),
    isToGuard,
    input,
    wishes: { crawl, name, shares },
  }
}

/** The port; 0 where any will do; null without a dashboard. A port alone asks for one. */
function readDashboard(isWanted: boolean, text: string | undefined, problems: Problem[]): number | null {
  if (text === undefined) return isWanted ? 0 : null
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text.trim() !== '') return port
  problems.push({ where: '--dashboard-port', what: `'${text}' is no port: a number from 0 to 65535` })
  return null
}

/** Also a guard that gives up owes the one JSON object. */
async function guardCrawl(request: GuardedRequest, args: readonly string[]): Promise<number> {
  const say = (line: string): void => void process.stderr.write(`${line}\n`)
  const [, launcher = ''] = process.argv
  // What breaks on purpose is no loop.
  const restartsMax = (process.env['PORTOLAN_FAULTS'] ?? '') === '' ? RESTARTS_MAX : Infinity
  const end = await guard({ args: [launcher, 'crawl', ...args], input: request.input, restartsMax, say })
  switch (end.kind) {
    case 'ended':
      return end.code
    case 'interrupted':
      return EXIT.interrupted.code
    case 'given-up': {
      const fault = new Error(`the crawl dies again and again, the last time ${end.why}, and is not started again`)
      say(`portolan crawl: ${fault.message}`)
      if (request.isJson) process.stdout.write(`${JSON.stringify(faultSummary(request, fault))}\n`)
      return EXIT.failed.code
    }
  }
}

/** What the crawl remembers, under what the file says; a file that is no configuration is passed on to be complained about. */
function under(
  stored: Said,
  file: { name: string; content: unknown } | null,
): { name: string; content: unknown } | null {
  if (file === null) return { name: 'the settings of the crawl', content: stored }
  const sections = typeof file.content === 'object' && file.content !== null ? Object.values(file.content) : null
  const isPlain = sections?.every((section) => typeof section === 'object' && section !== null) === true
  return isPlain ? { name: file.name, content: mergeSaid(stored, file.content as Said) } : file
}

/** What is in it is a part of a crawl. */
function isOfCluster(dir: string, { crawl, node }: NodeMark): Problem {
  return {
    where: dir,
    what: `is the directory of node ${node} in crawl ${crawl} of a cluster; go on with portolan node --join URL --crawl ${crawl} --name ${node} --dir ${dir}`,
  }
}

function noSeeds(dir: string | undefined, warnings: readonly Problem[]): Problem {
  const [bad] = warnings
  if (bad !== undefined) {
    return {
      where: 'seeds',
      what: `none of the lines is a URL that can be crawled; the first is ${bad.where}: ${bad.what}`,
    }
  }
  return {
    where: 'seeds',
    what:
      dir === undefined
        ? 'give at least one URL to start from'
        : `none given, and there is no crawl in ${dir} to go on with`,
  }
}

/** Seeds that the scope itself turns away: better said now than as a crawl of nothing. */
function refusedSeeds(seeds: readonly CanonicalUrl[], options: UrlOptions): Problem[] {
  const scope = compileScope(options)
  for (const seed of seeds) scope.addSeed(seed)
  return seeds.flatMap((seed) => {
    const refusal = scope.judge(seed, 0)
    return refusal === null ? [] : [{ where: `seed '${seed}'`, what: REFUSALS[refusal] }]
  })
}

function isEmpty(options: object): boolean {
  return Object.keys(options).length === 0
}

/** Only what was said: on a machine smaller than the default the default is a bound that is never reached. */
function tooMuchMemory({ config, said }: { readonly config: CrawlConfig; readonly said: Said }): Problem[] {
  const machine = totalmem()
  if (said['agent']?.['memory'] === undefined || config.agent.memory <= machine) return []
  const asked = formatBytes(config.agent.memory)
  return [{ where: '--memory', what: `${asked} is more than this machine has: ${formatBytes(machine)}` }]
}
