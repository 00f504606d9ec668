// portolan node: this machine takes part in a crawl that is defined in a cluster.

import { availableParallelism, hostname } from 'node:os'
import { join } from 'node:path'
import { leastMemory } from '../agent/index.ts'
import { systemClock } from '../base/index.ts'
import { type CrawlDefinition, nodeNameOf, readCrawl } from '../cluster/index.ts'
import {
  type CrawlConfig,
  isOwnOption,
  optionRows,
  type Problem,
  readArguments,
  readConfig,
  SECTIONS,
} from '../config/index.ts'
import { connectEngine, type EngineSettings } from '../engine/index.ts'
import { loadClusterCrawl } from '../control/index.ts'
import { type ControlAnswer, type ControlQuestion, openClusterNode } from '../supervise/index.ts'
import { canonicalise } from '../url/index.ts'
import { checkName, engineSettingsOf, foreignVariables, identityOf, settingsOn } from './cluster-access.ts'
import { type Command, EXIT } from './command.ts'
import { crawlFlagShapes, describeFlags, flagLine, printProblems } from './config-flags.ts'
import { chooseLogForm, logText } from './log-lines.ts'
import { keepCourse } from './keep-course.ts'
import { refuseLogins } from './refuse-logins.ts'
import { type CrawlRequest, PROGRESS_MODES, type ProgressMode, runCrawl } from './run-crawl.ts'
import type { Said } from './stored-settings.ts'
import { VERSION } from './version.ts'

const OWN_FLAGS = new Map([
  [
    'join',
    { takesValue: true, repeats: true, text: 'Where the engine is, like nats://host:4222; the same as --nats.' },
  ],
  ['crawl', { takesValue: true, repeats: false, text: 'The name of the crawl.' }],
  ['name', { takesValue: true, repeats: false, text: 'What this node is called in the cluster.' }],
  ['dir', { takesValue: true, repeats: false, text: 'Where its part of the crawl goes, and goes on from.' }],
  [
    'weight',
    {
      takesValue: true,
      repeats: false,
      text: 'Its capacity in relation to the others: twice the weight, twice the shares.',
    },
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
  ['json', { takesValue: false, repeats: false, text: 'Print the result as one JSON object on standard output.' }],
])

export const nodeCommand: Command = {
  usage: 'node --join nats://HOST:4222 --crawl NAME [--dir DIR] [options]',
  examples: [
    {
      command: 'portolan node --join nats://10.0.0.1:4222 --crawl museums',
      what: 'takes a share of the crawl `museums`, until it ends; Ctrl-C gives everything to the others first',
    },
    {
      command: 'portolan node --join tls://10.0.0.1:4222 --nats-creds node.creds --crawl museums --weight 4',
      what: 'with an encrypted connection, as a machine that does four times as much',
    },
  ],
  details() {
    const own = [...OWN_FLAGS].map(([flag, { takesValue, text }]) => ({
      flag: `--${flag}${takesValue ? ' VALUE' : ''}`,
      text,
      fallback:
        { name: 'name of the machine', dir: './<crawl>-<name>', weight: 'processors', progress: 'auto', log: 'text' }[
          flag
        ] ?? '',
    }))
    const rows = optionRows(SECTIONS).filter(({ facts }) => isOwnOption(facts.flag))
    return (
      `Options\n${describeFlags([...own, ...rows.map(flagLine)])}\n\n` +
      "Everything else is the crawl's and was said when it was set up (`portolan cluster init`, `portolan crawl --nats`).\n" +
      'docs/cluster.md: from one machine to three.'
    )
  },
  run: async (args) => {
    const asked = readNodeArguments(args)
    if (asked === null) return EXIT.usage.code
    return runNode(asked)
  },
}

export interface NodeRequest {
  readonly engine: EngineSettings
  readonly name: string
  readonly dir: string
  readonly weight: number
  /** Said for this machine alone. */
  readonly flags: ReadonlyMap<string, string | true | readonly string[]>
  readonly own?: Said
  readonly progress: ProgressMode
  readonly isJson: boolean
  readonly warnings: readonly string[]
}

function readNodeArguments(args: readonly string[]): NodeRequest | null {
  const { flags, words, problems } = readArguments(args, new Map([...crawlFlagShapes(), ...OWN_FLAGS]))
  const own = (flag: string): string | undefined => {
    const value = flags.get(flag)
    flags.delete(flag)
    return value === true ? '' : (value as string | undefined)
  }
  const join_ = (flags.get('join') ?? []) as readonly string[]
  flags.delete('join')
  if (join_.length > 0) flags.set('nats', [...((flags.get('nats') ?? []) as readonly string[]), ...join_])
  const crawl = own('crawl')
  const name = own('name') ?? nodeNameOf(hostname())
  const dir = own('dir')
  const weight = readWeight(own('weight'), problems)
  const progress = (own('progress') ?? 'auto') as ProgressMode
  chooseLogForm(own('log'), problems)
  const isJson = own('json') !== undefined
  for (const word of words) problems.push({ where: `'${word}'`, what: "a node takes no words; seeds are the crawl's" })
  if (!PROGRESS_MODES.includes(progress)) {
    problems.push({ where: '--progress', what: `'${progress}' is not one of ${PROGRESS_MODES.join(', ')}` })
  }
  for (const flag of flags.keys()) {
    if (isOwnOption(flag)) continue
    problems.push({ where: `--${flag}`, what: 'is for the whole crawl: say it when the crawl is set up' })
    flags.delete(flag)
  }
  checkName(name, problems)
  refuseLogins(flags, problems)
  const engine = readEngine(flags, crawl, problems)
  if (problems.length > 0 || engine === null || crawl === undefined) {
    printProblems('node', problems)
    return null
  }
  return {
    engine: { ...engine.settings, node: name },
    name,
    dir: dir ?? join('.', `${crawl}-${name}`),
    weight,
    flags,
    progress,
    isJson,
    warnings: [
      ...engine.warnings,
      ...foreignVariables(process.env).map((variable) => `${variable} is not heeded: it is about the whole crawl`),
    ],
  }
}

function readEngine(
  flags: ReadonlyMap<string, string | true | readonly string[]>,
  crawl: string | undefined,
  problems: Problem[],
): ReturnType<typeof engineSettingsOf> {
  const result = readConfig(SECTIONS, { flags: new Map(flags), environment: process.env, file: null })
  if (result.kind === 'config') return engineSettingsOf(result.config, crawl, problems, '--join')
  problems.push(...result.problems)
  return null
}

function readWeight(text: string | undefined, problems: Problem[]): number {
  if (text === undefined) return availableParallelism()
  const weight = Number(text)
  if (Number.isFinite(weight) && weight > 0) return weight
  problems.push({ where: '--weight', what: `'${text}' is no number above 0` })
  return 1
}

const NOT_OPEN: ControlAnswer = {
  fault: { code: 'CONTROL_REFUSED', message: 'this node is being opened; ask again in a moment' },
}

/** Joins and works until the end. */
export async function runNode(asked: NodeRequest): Promise<number> {
  for (const warning of asked.warnings) logText('warning', `portolan node: ${warning}\n`)
  const { definition, change, identity } = await findCrawl(asked.engine)
  const readSettings = (said: unknown): CrawlConfig => settingsOn(said as Said, asked.flags, asked.own)
  const config = readSettings(definition.settings)
  const seeds = definition.seeds.flatMap((seed) => {
    const url = canonicalise(seed)
    return typeof url === 'string' ? [url] : []
  })
  const { dir, name, weight, progress, isJson, engine } = asked
  const openSource = async () => (await loadClusterCrawl()).ClusterCrawl.open({ ...engine, crawl: identity.name })
  let answer: ((question: ControlQuestion) => Promise<ControlAnswer>) | null = null
  let node: Awaited<ReturnType<typeof openClusterNode>> | null = null
  const request: CrawlRequest = {
    dir,
    seeds,
    config,
    said: {},
    stored: definition.settings as CrawlRequest['stored'],
    progress,
    isJson,
    warnings: [],
    cluster: {
      place: { crawl: identity.name, node: name, servers: engine.servers },
      greeting: `Taking part in crawl ${identity.name} as node ${name}, into ${dir}. Ctrl-C gives its shares to the others.\n`,
      open: async (onEvent) => {
        node = await openClusterNode({
          dir,
          node: name,
          weight,
          here: agentsPlannedFor(config, definition.shares),
          engine,
          shares: definition.shares,
          assignment: definition.assignment,
          leaseMs: definition.leaseMs,
          marginMs: definition.marginMs,
          change,
          seeds,
          settings: config,
          readSettings,
          shelf: config.shelf,
          identity,
          clock: systemClock,
          software: `Portolan/${VERSION}`,
          environment: { ...process.env },
          host: hostname(),
          control: async (question) => answer?.(question) ?? NOT_OPEN,
          onEvent,
        })
        return node
      },
      configNow: () => node?.settings ?? null,
      shareDirs: () => node?.shareDirs ?? [],
      openSource,
      answerWith: (found) => {
        answer = found
      },
    },
  }
  const endCourse = keepCourse(systemClock, () => node?.isChair === true, openSource)
  try {
    return await runCrawl(request)
  } finally {
    await endCourse()
  }
}

/** As it is meant now, by this change of it. */
async function findCrawl(
  settings: EngineSettings,
): Promise<{ definition: CrawlDefinition; change: number; identity: ReturnType<typeof identityOf> }> {
  const engine = await connectEngine(settings)
  try {
    const { definition, changes } = await readCrawl(engine)
    return { definition, change: changes.upTo, identity: identityOf(settings.crawl, definition) }
  } finally {
    await engine.close()
  }
}

/** As many as memory is enough for; all of them at most. */
function agentsPlannedFor({ agent: { memory } }: CrawlConfig, shares: number): number {
  let here = 1
  while (here < shares && leastMemory(here + 1) <= memory) here++
  return here
}
