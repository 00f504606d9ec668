// portolan cluster: a crawl on several machines is set up, looked at and steered, from any machine that reaches the engine.

import { randomBytes } from 'node:crypto'
import { userInfo } from 'node:os'
import { formatDuration } from '../base/index.ts'
import {
  type ClusterStatus,
  type CrawlDefinition,
  initCluster,
  makeWish,
  type NodeStatus,
  readDefinition,
  type WishKind,
} from '../cluster/index.ts'
import { optionRows, type Problem, readArguments, readConfig, type Said, SECTIONS } from '../config/index.ts'
import { checkEngine, connectEngine, type Engine, type EngineSettings } from '../engine/index.ts'
import { findAssignment } from '../placement/index.ts'
import { formatCount, formatNumberOf, printable } from '../report/index.ts'
import { loadClusterLook, type NodeFigures } from '../supervise/index.ts'
import { engineSettingsOf, sharedSettings } from './cluster-access.ts'
import { readOptions, type Steering, steerCluster } from './cluster-steer.ts'
import { type Command, EXIT } from './command.ts'
import { crawlFlagShapes, describeFlags, flagLine, loadConfigFile, printProblems } from './config-flags.ts'
import { describeLostNode } from './describe-lost-node.ts'
import { LEASE_MS_USUAL, type LeaseLength, leaseOf, readLease } from './lease-length.ts'
import { loseNode } from './lost-node.ts'
import { refuseLogins } from './refuse-logins.ts'
import { readSeeds } from './read-seeds.ts'
import { readShares, SHARES_USUAL } from './share-count.ts'

const ACTIONS = [
  'init',
  'status',
  'drain',
  'resume',
  'remove',
  'weight',
  'seed',
  'set',
  'trace',
  'pause',
  'unpause',
  'stop',
] as const
type Action = (typeof ACTIONS)[number]
/** Those that are wishes. */
type WishAction = Exclude<Action, 'init' | 'status' | 'seed' | 'set' | 'trace'>
/** Those that are about one node; and about all of them. */
const OF_NODE: ReadonlySet<Action> = new Set(['drain', 'resume', 'remove', 'weight'])
const OF_ALL: ReadonlySet<Action> = new Set(['status', 'pause', 'unpause', 'stop'])

const OWN_FLAGS = new Map([
  ['crawl', { takesValue: true, repeats: false, text: 'The name of the crawl in the cluster.' }],
  [
    'seeds',
    { takesValue: true, repeats: true, text: 'init, seed: read seeds from a file, one a line; - is standard input.' },
  ],
  ['config', { takesValue: true, repeats: false, text: 'init, set: read options from a file (.json or .ts).' }],
  ['unset', { takesValue: true, repeats: true, text: 'set: this option is as usual again.' }],
  [
    'preview',
    {
      takesValue: false,
      repeats: false,
      text: 'set: says how many URLs that wait would be skipped, and changes nothing.',
    },
  ],
  [
    'shares',
    {
      takesValue: true,
      repeats: false,
      text: `init: in how many parts the crawl is cut, once and for all; a small multiple of all processors it will ever have.`,
    },
  ],
  [
    'assignment',
    {
      takesValue: true,
      repeats: false,
      text: 'init: how hosts go to shares and shares to nodes: rendezvous, ring, ring:200.',
    },
  ],
  [
    'lease',
    {
      takesValue: true,
      repeats: false,
      text: 'init: how long a node may act after its last sign of life; a third longer, and its shares are taken over.',
    },
  ],
  [
    'lost',
    {
      takesValue: false,
      repeats: false,
      text: 'remove: the machine never comes back; pages of which only it had the archive are fetched again.',
    },
  ],
  ['json', { takesValue: false, repeats: false, text: 'init, status: as one JSON object.' }],
])

export const clusterCommand: Command = {
  usage:
    'cluster init|status|drain NODE…|resume NODE…|remove NODE…|remove NODE --lost|weight NODE… N|seed URL…|set|trace URL|pause|unpause|stop --nats URL --crawl NAME [options]',
  examples: [
    {
      command: 'portolan cluster init https://example.org/ --nats nats://10.0.0.1:4222 --crawl museums --shares 16',
      what: 'sets a crawl up; then `portolan node --join nats://10.0.0.1:4222 --crawl museums` on each machine',
    },
    {
      command: 'portolan cluster status --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'who takes part, with what, and how far it is',
    },
    {
      command: 'portolan cluster drain b --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'node b gives its shares to the others, and stays',
    },
    {
      command: 'portolan cluster remove b --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'the same, and then it goes',
    },
    {
      command: 'portolan cluster remove b --lost --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'the machine of node b is gone for ever; what only it had is fetched again',
    },
    {
      command: 'portolan cluster seed https://example.com/ --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'one seed more, while it runs; a crawl that has ended goes on with it when its nodes are started',
    },
    {
      command:
        'portolan cluster set --max-pages 100000 --block example.net --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'other options from now on, on all nodes; `--preview` says before how many waiting URLs that would skip',
    },
    {
      command: 'portolan cluster pause --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'no node asks anybody, nor one that joins later, until `portolan cluster unpause`',
    },
    {
      command: 'portolan cluster stop --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'all stop in order; a node that joins later goes on',
    },
  ],
  details() {
    const own = [...OWN_FLAGS].map(([flag, { takesValue, text }]) => ({
      flag: `--${flag}${takesValue ? ' VALUE' : ''}`,
      text,
      fallback:
        { shares: String(SHARES_USUAL), assignment: 'rendezvous', lease: formatDuration(LEASE_MS_USUAL) }[flag] ?? '',
    }))
    const rows = optionRows(SECTIONS).filter(({ facts }) => facts.flag?.startsWith('nats') === true)
    return (
      `Options\n${describeFlags([...own, ...rows.map(flagLine)])}\n\n` +
      "`init` and `set` take every option of `portolan crawl` as well: they are the crawl's, on all nodes. docs/cluster.md tells the rest."
    )
  },
  run: async (args) => {
    const asked = await readClusterArguments(args)
    if (asked === null) return EXIT.usage.code
    for (const warning of asked.warnings) process.stderr.write(`portolan cluster: ${warning}\n`)
    const engine = await connectEngine(asked.engine)
    try {
      return await act(engine, asked)
    } finally {
      await engine.close()
    }
  },
}

interface ClusterRequest {
  readonly action: Action
  /** Those it is about; none where it is about all. */
  readonly nodes: readonly string[]
  readonly weight: number | null
  readonly isLost: boolean
  readonly engine: EngineSettings
  /** What the crawl is to be from now on; null where it stays as it is. */
  readonly steering: Steering | null
  readonly definition: Pick<CrawlDefinition, 'shares' | 'assignment' | 'settings' | 'seeds'>
  readonly lease: LeaseLength
  readonly isJson: boolean
  readonly warnings: readonly string[]
}

async function readClusterArguments(args: readonly string[]): Promise<ClusterRequest | null> {
  const { flags, words, problems } = readArguments(args, new Map([...crawlFlagShapes(), ...OWN_FLAGS]))
  const own = (flag: string): string | true | readonly string[] | undefined => {
    const value = flags.get(flag)
    flags.delete(flag)
    return value
  }
  const [first, ...rest] = words
  const action = ACTIONS.find((one) => one === first)
  if (action === undefined) {
    problems.push({ where: first === undefined ? 'cluster' : `'${first}'`, what: `say one of ${ACTIONS.join(', ')}` })
    printProblems('cluster', problems)
    return null
  }
  const crawl = own('crawl') as string | undefined
  const seedFiles = (own('seeds') ?? []) as readonly string[]
  const configPath = own('config') as string | undefined
  const shares = readShares(own('shares') as string | undefined, problems)
  const lease = readLease(own('lease') as string | undefined, problems)
  const assignment = (own('assignment') ?? 'rendezvous') as string
  if (findAssignment(assignment) === null) {
    problems.push({ where: '--assignment', what: `'${assignment}' is none; say rendezvous, ring, or ring:200` })
  }
  const isJson = own('json') !== undefined
  const isLost = own('lost') !== undefined
  const unset = (own('unset') ?? []) as readonly string[]
  const isPreview = own('preview') !== undefined
  if ((unset.length > 0 || isPreview) && action !== 'set')
    problems.push({ where: unset.length > 0 ? '--unset' : '--preview', what: 'goes with set: cluster set' })
  if (isLost && action !== 'remove')
    problems.push({ where: '--lost', what: 'goes with remove: cluster remove NODE --lost' })
  refuseLogins(flags, problems)
  const loaded = configPath === undefined ? null : await loadConfigFile(configPath)
  if (loaded?.problem != null) problems.push(loaded.problem)
  const takesSeeds = action === 'init' || action === 'seed'
  const seeds = takesSeeds ? await readSeeds(rest, seedFiles, process.stdin) : { urls: [], problems: [] }
  problems.push(...seeds.problems)
  const nodes = OF_NODE.has(action) ? (action === 'weight' ? rest.slice(0, -1) : rest) : []
  const weightSaid = action === 'weight' && rest.length > 1 ? readWeight(rest.at(-1), problems) : null
  if (OF_NODE.has(action) && nodes.length === 0) {
    problems.push({ where: action, what: WHICH_NODE[action] ?? 'say which node' })
  }
  if ((OF_ALL.has(action) || action === 'set') && rest.length > 0) {
    problems.push({ where: `'${rest[0]}'`, what: `${action} is about the whole cluster` })
  }
  if (takesSeeds && seeds.urls.length === 0 && problems.length === 0) {
    problems.push({ where: 'seeds', what: 'give at least one URL to start from' })
  }
  const file = loaded?.file ?? null
  const steering = readSteering(action, rest, seeds.urls, () => readOptions(flags, unset, file, problems), isPreview)
  if (action === 'trace' && rest.length !== 1)
    problems.push({ where: 'trace', what: 'say which URL: cluster trace URL' })
  const result = readConfig(SECTIONS, { flags, environment: process.env, file })
  // What the options of `set` are complained about for is said already.
  if (result.kind === 'problems' && (action !== 'set' || problems.length === 0)) problems.push(...result.problems)
  const config = result.kind === 'config' ? result.config : null
  const engine = config === null ? null : engineSettingsOf(config, crawl, problems)
  const settings = result.kind === 'config' ? sharedSettings(result.said, problems) : {}
  if (problems.length > 0 || engine === null) {
    printProblems('cluster', problems)
    return null
  }
  return {
    action,
    nodes,
    weight: weightSaid,
    isLost,
    steering,
    engine: engine.settings,
    definition: { shares, assignment, settings, seeds: seeds.urls },
    lease,
    isJson,
    warnings: engine.warnings,
  }
}

/** What the crawl is to be from now on, where that is asked for. */
function readSteering(
  action: Action,
  words: readonly string[],
  seeds: readonly string[],
  options: () => Said,
  isPreview: boolean,
): Steering | null {
  if (action === 'seed') return { kind: 'seed', seeds }
  if (action === 'trace') return { kind: 'trace', url: words[0] ?? '' }
  return action === 'set' ? { kind: isPreview ? 'preview' : 'set', options: options() } : null
}

/** What is said where no node is named. */
const WHICH_NODE: Readonly<Partial<Record<Action, string>>> = {
  weight: 'say the node and a number above 0: cluster weight NODE 4',
  resume: 'say which node; a crawl that is paused goes on with: cluster unpause',
}

function readWeight(text: string | undefined, problems: Problem[]): number | null {
  const weight = Number(text)
  if (text !== undefined && Number.isFinite(weight) && weight > 0) return weight
  problems.push({ where: 'weight', what: 'say the node and a number above 0: cluster weight NODE 4' })
  return null
}

async function act(engine: Engine, asked: ClusterRequest): Promise<number> {
  const { crawl, servers } = asked.engine
  if (asked.action === 'init') {
    // Before anything leans on it: whether it races, and whether it has room for so many logs.
    await checkEngine(asked.engine, asked.definition.shares)
    await initCluster(engine, newDefinition(asked.definition, asked.lease))
    const { shares, seeds } = asked.definition
    if (asked.isJson) process.stdout.write(`${JSON.stringify({ crawl, shares, seeds: seeds.length, servers })}\n`)
    else {
      say(
        `Crawl ${crawl} is set up: ${formatNumberOf(seeds.length, 'seed')}, ${formatNumberOf(shares, 'share')}. ` +
          `On each machine: portolan node --join ${servers[0] ?? ''} --crawl ${crawl}\n`,
      )
    }
    return EXIT.ok.code
  }
  const definition = await readDefinition(engine)
  if (asked.action === 'status') {
    const { lookAtCluster, sharesBehind } = await loadClusterLook()
    const { status, figures, left } = await lookAtCluster(engine, definition)
    if (asked.isJson) {
      const nodes = status.nodes.map((node) => ({ ...node, figures: figures.get(node.node) ?? null }))
      process.stdout.write(`${JSON.stringify({ ...status, nodes, left: [...left.values()] })}\n`)
    } else {
      const behind = sharesBehind(figures.values(), definition.shares, status.change)
      process.stdout.write(renderStatus(crawl, status, figures, [...left.values()], behind))
    }
    return EXIT.ok.code
  }
  if (asked.isLost) {
    for (const node of asked.nodes) await loseNode(engine, node, definition, say)
    return EXIT.ok.code
  }
  if (asked.steering !== null) {
    await steerCluster(asked.engine, asked.steering, say)
    return EXIT.ok.code
  }
  return wish(engine, asked.action as WishAction, asked)
}

async function wish(engine: Engine, kind: WishAction, asked: ClusterRequest): Promise<number> {
  const { nodes, weight } = asked
  const common = { kind: kind satisfies WishKind, by: userInfo().username, at: new Date().toISOString() }
  for (const node of OF_NODE.has(kind) ? nodes : [null]) {
    await makeWish(engine, { ...common, node, ...(weight === null ? {} : { weight }) })
    say(
      {
        drain: `${node} gives its shares to the others, and stays.\n`,
        resume: `${node} takes shares again.\n`,
        remove: `${node} gives its shares to the others, and goes.\n`,
        weight: `${node} has weight ${weight} from now on.\n`,
        pause: 'Nobody is asked from now on, by no node, until: portolan cluster unpause.\n',
        unpause: 'The crawl goes on.\n',
        stop: 'All nodes stop in order; a node that joins later goes on.\n',
      }[kind],
    )
  }
  return EXIT.ok.code
}

/** A crawl as it is defined once. */
export function newDefinition(
  said: Pick<CrawlDefinition, 'shares' | 'assignment' | 'settings' | 'seeds'>,
  lease: LeaseLength = leaseOf(LEASE_MS_USUAL),
): Omit<CrawlDefinition, 'format'> {
  return {
    identity: randomBytes(8).toString('hex'),
    ...said,
    ...lease,
    createdAt: new Date().toISOString(),
  }
}

function renderStatus(
  crawl: string,
  { definition, view, nodes, state, isPaused, change, shares, lost }: ClusterStatus,
  figures: ReadonlyMap<string, NodeFigures | null>,
  left: readonly NodeFigures[],
  behind: number,
): string {
  const sum = (of: (one: NodeFigures) => number): number =>
    [...figures.values(), ...left].reduce((total, one) => total + (one === null ? 0 : of(one)), 0)
  const free = shares.filter(({ holder, released }) => holder === null || released).length
  const lines = [
    `Crawl ${crawl}: ${state}${isPaused ? ', paused' : ''}${nodes.length === 0 ? ', nobody works on it' : ''}; ` +
      `${formatNumberOf(definition.shares, 'share')}${free === 0 ? '' : ` (${free} with nobody)`}, view ${view?.number ?? 0}.`,
    `${formatNumberOf(
      sum(({ pages }) => pages),
      'page',
    )}, ${formatCount(sum(({ failed }) => failed))} failed, ` +
      `${formatCount(sum(({ waiting }) => waiting))} waiting${nodes.length === 0 ? '' : ', as far as nodes answer'}.`,
    ...(change === 0 ? [] : [renderChange(change, definition.shares, behind)]),
    ...nodes.map((node) => renderNode(node, figures.get(node.node) ?? null)),
    ...lost.map((one) => describeLostNode(one.node, one, one.isDone)),
  ]
  return `${lines.join('\n')}\n`
}

/** `behind`: shares that have yet to take it in. */
function renderChange(change: number, shares: number, behind: number): string {
  return behind === 0
    ? `Change ${change} holds on all shares.`
    : `Change ${change} holds on ${shares - behind} of ${formatNumberOf(shares, 'share')}, as far as nodes answer.`
}

function renderNode(status: NodeStatus, figures: NodeFigures | null): string {
  const { node, weight, isDraining, isLeaving, host, beatAgeMs, shares, report } = status
  const mood = isLeaving ? ', leaving' : isDraining ? ', drained' : ''
  const moving = report?.shares.filter(({ phase }) => phase === 'taking' || phase === 'giving') ?? []
  return (
    `  ${node} (weight ${weight}${mood}) on ${printable(host)}, ${describeBeat(beatAgeMs)}: shares ${shares.length === 0 ? 'none' : shares.join(' ')}` +
    (moving.length === 0 ? '' : `, moving ${moving.map(({ share, phase }) => `${share} (${phase})`).join(' ')}`) +
    (report === null ? '; does not answer' : report.isFenced ? '; silent, for the engine does not answer it' : '') +
    (figures === null ? '' : `; ${formatNumberOf(figures.pages, 'page')}, ${formatCount(figures.waiting)} waiting`)
  )
}

/** By the clocks of two machines, which may disagree: what lies in the future was just now. */
export function describeBeat(ageMs: number | null): string {
  if (ageMs === null) return 'no beat yet'
  const seconds = Math.round(ageMs / 1_000)
  return seconds < 1 ? 'last beat just now' : `last beat ${formatDuration(seconds * 1_000)} ago`
}

function say(text: string): void {
  process.stderr.write(text)
}
