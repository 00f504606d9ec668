// The figures of crawls in the text format of Prometheus (docs/metrics.md). Names, kinds and texts come from FIGURES; labels are few
// and bounded: the crawl, the node, the number of an agent, and codes and reasons of our own tables. Never a URL or a host.

import {
  FAILURES,
  type Figure,
  FIGURE_SCOPES,
  type FigureName,
  FIGURES,
  type FigureScope,
  metricName,
  REFUSALS,
  SKIPS,
} from '../base/index.ts'
import { type AnswerOf, CRAWL_STATES, type CrawlInfo } from './api.ts'

export interface CrawlMetrics {
  readonly info: CrawlInfo
  readonly agents?: AnswerOf<'agents'>['agents']
  readonly nodes?: AnswerOf<'nodes'> | null
  /** What stands in none of them: restarts, hostsParked, hostsOut, readShare. */
  readonly more?: Readonly<Partial<Record<FigureName, number>>>
}

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** 1 for the state the crawl is in, 0 for the others. */
export const STATE_METRIC = 'portolan_state'
const STATE_TEXT = `in which state the crawl is: ${CRAWL_STATES.join(', ')}`

const HOST_STATES_TEXT = 'hosts that have something waiting, by what they do'

const ANSWER_CLASSES = ['2xx', '3xx', '4xx', '5xx', 'other', 'unchanged'] as const

/** All that a figure may be counted apart by. What is none of them is counted as `unknown`. */
const NAMES_BY: Readonly<Partial<Record<FigureName, readonly string[]>>> = {
  answers: ANSWER_CLASSES,
  failures: Object.keys(FAILURES),
  skipped: Object.keys(SKIPS),
  refused: Object.keys(REFUSALS),
}

type Labels = Readonly<Record<string, string>>

export function renderMetrics(crawls: readonly CrawlMetrics[]): string {
  const families = new Families()
  for (const { info } of crawls) {
    for (const state of CRAWL_STATES) {
      families.add(STATE_METRIC, STATE_TEXT, 'gauge', { crawl: info.id, state }, state === info.state ? 1 : 0)
    }
  }
  for (const scope of FIGURE_SCOPES) {
    for (const name of Object.keys(FIGURES) as FigureName[]) {
      for (const crawl of crawls)
        for (const sample of samplesOf(crawl, scope, name)) families.addFigure(name, scope, sample)
    }
  }
  return families.text
}

/** What several servers say, as one: the lines of a metric must stand together. */
export function joinMetrics(texts: readonly string[]): string {
  const blocks = new Map<string, { head: string[]; samples: string[] }>()
  for (const text of texts) {
    let block = { head: [] as string[], samples: [] as string[] }
    for (const line of text.split('\n')) {
      const [, kind, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? []
      if (kind !== undefined) {
        block = blocks.get(name) ?? { head: [], samples: [] }
        blocks.set(name, block)
      }
      if (kind === undefined) {
        if (line !== '' && !line.startsWith('#')) block.samples.push(line)
      } else if (!block.head.some((said) => said.startsWith(`# ${kind} `))) block.head.push(line)
    }
  }
  return [...blocks.values()].flatMap(({ head, samples }) => [...head, ...samples].map((line) => `${line}\n`)).join('')
}

interface Sample {
  readonly labels: Labels
  readonly value: number
}

/** Everything that is said of one figure in one scope of a crawl. */
function samplesOf(
  { info, agents = [], nodes = null, more = {} }: CrawlMetrics,
  scope: FigureScope,
  name: FigureName,
): Sample[] {
  if (metricName(name, scope) === null) return []
  const crawl = info.id
  if (scope === 'agent') {
    return agents.flatMap((agent) =>
      sample(figureIn(agent, name), {
        crawl,
        ...(agent.node === null ? {} : { node: agent.node }),
        agent: String(agent.agent),
      }),
    )
  }
  if (scope === 'node') {
    return (nodes?.nodes ?? []).flatMap((node) =>
      sample(inBaseUnit(figureIn(node, name), name), { crawl, node: node.node }),
    )
  }
  const { by, state }: Figure = FIGURES[name]
  const said = { ...more, agents: info.agents, ...info.figures, ...info.now, ...ofCluster(info, nodes) }
  if (by !== undefined) return countedApart(figureIn(said, name), name, by, crawl)
  return sample(figureIn(said, name), state === undefined ? { crawl } : { crawl, state })
}

function ofCluster({ cluster }: CrawlInfo, nodes: AnswerOf<'nodes'> | null): Record<string, number> {
  return { ...(cluster === null ? {} : { nodes: cluster.nodes }), ...(nodes === null ? {} : { shares: nodes.shares }) }
}

/** `speed.connections` is the connections of speed; of a list, how many it has. */
function figureIn(said: Readonly<Record<string, unknown>>, name: FigureName): unknown {
  let value: unknown = said
  for (const part of name.split('.')) value = (value as Readonly<Record<string, unknown>> | null | undefined)?.[part]
  return Array.isArray(value) ? value.length : value
}

/** Prometheus has seconds. */
function inBaseUnit(value: unknown, name: FigureName): unknown {
  return typeof value === 'number' && FIGURES[name].unit === 'milliseconds' ? value / 1_000 : value
}

function sample(value: unknown, labels: Labels): Sample[] {
  return typeof value === 'number' ? [{ labels, value }] : []
}

function countedApart(counts: unknown, name: FigureName, by: string, crawl: string): Sample[] {
  const names = NAMES_BY[name] ?? []
  const said = (counts ?? {}) as Readonly<Record<string, number>>
  const unknown = Object.entries(said).reduce((sum, [one, count]) => sum + (names.includes(one) ? 0 : count), 0)
  const rows = names.map((one) => ({ labels: { crawl, [by]: one }, value: said[one] ?? 0 }))
  return unknown === 0 ? rows : [...rows, { labels: { crawl, [by]: 'unknown' }, value: unknown }]
}

/** Lines by metric, in the order in which they came first. */
class Families {
  readonly #lines = new Map<string, string[]>()

  addFigure(figure: FigureName, scope: FigureScope, { labels, value }: Sample): void {
    const name = metricName(figure, scope)
    const { text, kind, state }: Figure = FIGURES[figure]
    if (name === null) return
    this.add(name, state === undefined ? text : HOST_STATES_TEXT, kind, labels, value)
  }

  add(name: string, text: string, kind: Figure['kind'], labels: Labels, value: number): void {
    let lines = this.#lines.get(name)
    if (lines === undefined) {
      lines = [`# HELP ${name} ${escapeText(text)}`, `# TYPE ${name} ${kind}`]
      this.#lines.set(name, lines)
    }
    const said = Object.entries(labels).map(([label, one]) => `${label}="${escapeText(one).replaceAll('"', '\\"')}"`)
    lines.push(`${name}{${said.join(',')}} ${numberText(value)}`)
  }

  get text(): string {
    return [...this.#lines.values()].flatMap((lines) => lines.map((line) => `${line}\n`)).join('')
  }
}

function escapeText(text: string): string {
  return text.toWellFormed().replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  return String(value)
}

/** Every metric there is, for docs and dashboards. */
export function allMetrics(): { name: string; kind: Figure['kind']; labels: readonly string[]; text: string }[] {
  const rows = new Map([
    [STATE_METRIC, { name: STATE_METRIC, kind: 'gauge' as const, labels: ['crawl', 'state'], text: STATE_TEXT }],
  ] as [string, ReturnType<typeof allMetrics>[number]][])
  for (const scope of FIGURE_SCOPES) {
    for (const figure of Object.keys(FIGURES) as FigureName[]) {
      const name = metricName(figure, scope)
      if (name === null) continue
      const { kind, text, by, state }: Figure = FIGURES[figure]
      const own = by === undefined ? (state === undefined ? [] : ['state']) : [by]
      const labels = { crawl: ['crawl', ...own], agent: ['crawl', 'node', 'agent'], node: ['crawl', 'node'] }[scope]
      rows.set(name, { name, kind, labels, text: state === undefined ? text : HOST_STATES_TEXT })
    }
  }
  return [...rows.values()]
}
