// The picture of `portolan top`: lines of text from what was looked at, for a screen of any size. Names of figures come from their
// table; everything that comes from the web is made printable.

import { type Figure, type FigureName, FIGURES, formatBytes, formatDuration, STOPS } from '../base/index.ts'
import { formatCount, formatNumberOf, printable } from '../report/index.ts'
import type { TopHosts, TopLook } from './top-look.ts'

export const TOP_VIEWS = ['overview', 'hosts', 'agents', 'nodes'] as const
export type TopView = (typeof TOP_VIEWS)[number]

export interface Screen {
  readonly columns: number
  /** Infinity: everything, for what is printed once. */
  readonly rows: number
  readonly isColoured: boolean
  readonly view: TopView
  /** Pages per second, the newest last. */
  readonly rates: readonly number[]
  /** What was answered to a key. */
  readonly message: string
}

const BARS = '▁▂▃▄▅▆▇█'
const LABEL_WIDTH = 18
const RIGHT_LABEL_WIDTH = 11
/** The left column grows in steps, so that it does not jump with every figure. */
const COLUMN_STEP = 4
const LEFT_MIN = 12
const WIDTH_MIN = 20

export function renderTop(look: TopLook, screen: Screen): string[] {
  const width = Math.max(WIDTH_MIN, screen.columns)
  const paint = painter(screen.isColoured)
  const head = [title(look, paint), '', ...figureLines(look, width), ...rateLines(look, screen, width), '']
  const body = bodyOf(look, screen.view, paint)
  const keys =
    screen.rows === Infinity ? [] : [screen.message === '' ? paint.dim(keysOf(look)) : printable(screen.message)]
  const room = Math.max(0, screen.rows - keys.length)
  const lines = [...head, ...body].slice(0, room)
  if (screen.rows !== Infinity) while (lines.length < room) lines.push('')
  return [...lines, ...keys].map((line) => cut(line, width))
}

function title({ info }: TopLook, paint: Painter): string {
  const where = info.cluster === null ? printable(info.dir) : formatNumberOf(info.cluster.nodes, 'node')
  const why = info.stoppedBecause === null ? '' : `: ${stopText(info.stoppedBecause)}`
  const state = { running: paint.good, paused: paint.warn, stopping: paint.warn }[info.state as string] ?? paint.dim
  return `${paint.bold(printable(info.name))}  ${state(`${info.state}${why}`)}  ${paint.dim(where)}`
}

function stopText(reason: string): string {
  return Object.hasOwn(STOPS, reason) ? STOPS[reason as keyof typeof STOPS] : printable(reason)
}

function figureLines({ info }: TopLook, width: number): string[] {
  const { figures, now } = info
  const skipped = sumOf(figures.skipped)
  return twoColumns(
    [
      ['pages', countsText(figures.pages, figures.answers), 'waiting', formatCount(figures.waiting)],
      ['failed', countsText(figures.failed, figures.failures), 'hosts', hostsText(info)],
      ['skipped', countsText(skipped, figures.skipped), 'active', now === null ? '–' : formatCount(now.active)],
      [
        'bytes',
        `${formatBytes(figures.bytes)} (${formatBytes(figures.wireBytes)} received)`,
        'rssBytes',
        memoryText(info),
      ],
      ['seconds', span(figures.seconds), 'cpuSeconds', cpuText(info)],
    ],
    width,
  )
}

function hostsText({ figures, now }: TopLook['info']): string {
  if (now === null) return formatCount(figures.hosts)
  return `${formatCount(figures.hosts)} (${formatCount(now.hostsReady)} ready, ${formatCount(now.hostsResting)} resting)`
}

function memoryText({ figures, now }: TopLook['info']): string {
  const most = `${formatBytes(figures.peakRssBytes)} at most`
  return now === null ? most : `${formatBytes(now.rssBytes)}, ${most}`
}

function cpuText({ figures, now }: TopLook['info']): string {
  return `${span(figures.cpuSeconds)}${now === null ? '' : `, ${Math.round(now.cpuShare * 100)} % of a processor`}`
}

function rateLines({ info: { now } }: TopLook, { rates }: Screen, width: number): string[] {
  const line = sparkline(rates, Math.max(8, Math.min(60, width - LABEL_WIDTH - 24)))
  if (now === null) return rates.length === 0 ? [] : [`${label('pagesPerSecond')}${line}`]
  return [
    `${label('pagesPerSecond')}${line} ${rateText(now.pagesPerSecond)}/s, ${formatBytes(Math.round(now.bytesPerSecond))}/s`,
    `${'What is slow'.padEnd(LABEL_WIDTH)}${printable(now.slow)}`,
  ]
}

/** The last values as bars, the highest of them as a full one. */
export function sparkline(values: readonly number[], width: number): string {
  const shown = values.slice(-width)
  const highest = Math.max(...shown, 0)
  const bars = shown.map(
    (value) => BARS[highest <= 0 ? 0 : Math.min(7, Math.floor((value / highest) * 7.99))] ?? BARS[0],
  )
  return bars.join('').padStart(width, ' ')
}

function bodyOf(look: TopLook, view: TopView, paint: Painter): string[] {
  switch (view) {
    case 'overview':
      return [...agentLines(look, paint), ...(look.nodes === null ? [] : ['', ...nodeLines(look, paint)])]
    case 'agents':
      return agentLines(look, paint)
    case 'nodes':
      return nodeLines(look, paint)
    case 'hosts':
      return hostLines(look, paint)
  }
}

function hostLines({ busiest, troubled, hostsTrouble }: TopLook, paint: Painter): string[] {
  if (hostsTrouble !== null) return [`Hosts are not told: ${printable(hostsTrouble)}`]
  const table = (name: string, hosts: TopHosts | null): string[] => [
    paint.bold(name),
    ...tableOf(
      ['host', 'pages', 'errors', 'bytes', 'waiting', 'state'],
      (hosts ?? []).map(({ host, pages, errors, bytes, waiting, state }) => [
        printable(host),
        formatCount(pages),
        formatCount(errors),
        formatBytes(bytes),
        waiting === null ? '–' : formatCount(waiting),
        state ?? '–',
      ]),
      paint,
    ),
  ]
  return [...table('Busiest hosts', busiest), '', ...table('Troubled hosts', troubled)]
}

function agentLines({ agents, info }: TopLook, paint: Painter): string[] {
  if (agents.length === 0) return info.now === null ? ['Nobody works on it.'] : []
  return tableOf(
    [
      info.cluster === null ? 'agent' : 'share',
      'node',
      'pages',
      'failed',
      'waiting',
      'hosts',
      'active',
      'limit',
      'held back by',
    ],
    agents.map((agent) => [
      String(agent.agent),
      agent.node === null ? '–' : printable(agent.node),
      formatCount(agent.pages),
      formatCount(agent.failed),
      formatCount(agent.waiting),
      formatCount(agent.hosts),
      formatCount(agent.active),
      formatCount(agent.limit),
      `${printable(agent.bottleneck)}${speedText(agent.speed)}`,
    ]),
    paint,
  )
}

function speedText({ ratePerSecond, bytesPerSecond }: TopLook['agents'][number]['speed']): string {
  return [
    ratePerSecond === null ? '' : `, at most ${rateText(ratePerSecond)}/s`,
    bytesPerSecond === null ? '' : `, at most ${formatBytes(bytesPerSecond)}/s`,
  ].join('')
}

function nodeLines({ nodes }: TopLook, paint: Painter): string[] {
  if (nodes === null) return ['It runs on one machine.']
  return tableOf(
    ['node', 'state', 'weight', 'shares', 'pages', 'waiting', 'active', 'memory', 'last beat'],
    nodes.nodes.map((node) => [
      printable(node.node),
      node.state,
      String(node.weight),
      node.shares.length === 0 ? 'none' : node.shares.join(' '),
      formatCount(node.pages),
      formatCount(node.waiting),
      formatCount(node.active),
      formatBytes(node.rssBytes),
      beatText(node.lastBeatMs),
    ]),
    paint,
  )
}

function beatText(ms: number | null): string {
  if (ms === null) return '–'
  return ms < 1_000 ? 'just now' : `${formatDuration(Math.round(ms / 1_000) * 1_000)} ago`
}

/** Numbers to the right, words to the left. */
function tableOf(head: readonly string[], rows: readonly (readonly string[])[], paint: Painter): string[] {
  const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const isNumber = head.map(
    (_, column) => column > 0 && rows.every((row) => /^(?:[\d,.]+(?: \w+)?|–)$/.test(row[column] ?? '')),
  )
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) =>
        isNumber[column] === true ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [paint.dim(line(head)), ...rows.map(line)]
}

function keysOf({ info }: TopLook): string {
  const steer = info.can.includes('pause') || info.can.includes('nodes')
  return `q quit  h hosts  a agents  n nodes  o overview${steer && info.now !== null ? '  p pause or go on  + - speed' : ''}`
}

/** On narrow screens the left one is cut: sums stand first there, and their parts can go. */
function twoColumns(rows: readonly (readonly [FigureName, string, FigureName, string])[], width: number): string[] {
  const longest = Math.max(...rows.map(([, text]) => text.length))
  const longestRight = Math.max(...rows.map(([, , , text]) => text.length))
  const room = width - LABEL_WIDTH - 1 - RIGHT_LABEL_WIDTH - longestRight
  const left = Math.max(LEFT_MIN, Math.min(room, Math.ceil((longest + 1) / COLUMN_STEP) * COLUMN_STEP))
  return rows.map(
    ([name, text, rightName, rightText]) =>
      `${label(name)}${cut(text, left).padEnd(left)} ${label(rightName, RIGHT_LABEL_WIDTH)}${rightText}`,
  )
}

function label(name: FigureName, width = LABEL_WIDTH): string {
  const { label: text }: Figure = FIGURES[name]
  return text.padEnd(width)
}

/** The sum, and the largest parts of it. */
function countsText(sum: number, counts: Readonly<Record<string, number>>): string {
  const largest = Object.entries(counts)
    .filter(([, count]) => count > 0)
    .toSorted(([, one], [, two]) => two - one)
    .slice(0, 2)
  if (sum === 0 || largest.length === 0) return formatCount(sum)
  return `${formatCount(sum)} (${largest.map(([name, count]) => `${printable(name)} ${formatCount(count)}`).join(', ')})`
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

function span(seconds: number): string {
  return formatDuration(Math.round(seconds) * 1_000)
}

function rateText(rate: number): string {
  return rate < 10 ? rate.toFixed(1) : formatCount(rate)
}

interface Painter {
  readonly bold: (text: string) => string
  readonly dim: (text: string) => string
  readonly good: (text: string) => string
  readonly warn: (text: string) => string
}

function painter(isColoured: boolean): Painter {
  const with_ =
    (code: number) =>
    (text: string): string =>
      isColoured ? `\x1b[${code}m${text}\x1b[0m` : text
  return { bold: with_(1), dim: with_(2), good: with_(32), warn: with_(33) }
}

const COLOUR = /\x1b\[\d+m/g

/** To the width, colours not counted. */
function cut(line: string, width: number): string {
  if (line.replace(COLOUR, '').length <= width) return line
  let shown = ''
  let length = 0
  for (const part of line.split(/(\x1b\[\d+m)/)) {
    if (part.startsWith('\x1b[')) shown += part
    else {
      const rest = part.slice(0, Math.max(0, width - 1 - length))
      length += rest.length
      shown += rest
    }
  }
  return `${shown}…`
}
