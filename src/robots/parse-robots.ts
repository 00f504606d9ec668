// robots.txt, bytes to groups (RFC 9309). Takes anything and never throws: what cannot be read as a rule
// is no rule. One pass; the text is kept as one character per octet, so that a path in any encoding
// survives to be compared octet by octet.

import { normaliseRulePath } from './path-pattern.ts'
import { productTokenOf } from './product-token.ts'
import { RobotsRules, type RobotsRule } from './robots-rules.ts'
import type { UsageRule } from './site-wishes.ts'
import { parseUsageTerms } from './usage-terms.ts'

/** RFC 9309, 2.5: at least this much must be read. We read exactly this much. */
export const ROBOTS_BYTES_MAX = 500 * 1024

/** Lines about use beyond this are not read: each is compared with every URL of the site. */
const USAGE_LINES_MAX = 1_000

export type RobotsLineKind = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap' | 'usage' | 'unknown'

/** A line that says something; blank lines and comments are left out. */
export interface RobotsLine {
  /** Counted from 1; LF, CR and CRLF each end one line. */
  readonly number: number
  readonly kind: RobotsLineKind
  readonly value: string
  /** As it stands in the file, without comment and surrounding space. */
  readonly text: string
}

/**
 * The names of lines, with the misspellings that Google's parser and crawler-commons both live with:
 * whoever wrote them meant to be obeyed. docs/decisions/0003 has the argument.
 */
const KINDS: ReadonlyMap<string, RobotsLineKind> = new Map([
  ['user-agent', 'user-agent'],
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['useg-agent', 'user-agent'],
  ['allow', 'allow'],
  ['disallow', 'disallow'],
  ['dissallow', 'disallow'],
  ['dissalow', 'disallow'],
  ['disalow', 'disallow'],
  ['diasllow', 'disallow'],
  ['disallaw', 'disallow'],
  ['desallow', 'disallow'],
  ['crawl-delay', 'crawl-delay'],
  ['crawldelay', 'crawl-delay'],
  ['crawl delay', 'crawl-delay'],
  // Nobody's standard either; it says the same in another way.
  ['request-rate', 'crawl-delay'],
  ['sitemap', 'sitemap'],
  ['site-map', 'sitemap'],
  // Of Cloudflare and of the IETF's aipref: what may be done with pages, not which may be fetched (usage-terms.ts).
  ['content-signal', 'usage'],
  ['content-usage', 'usage'],
])
/** As long as the longest name above, so a line's name is only cut out and lowered if it can be one. */
const NAME_LENGTH_MAX = 14

interface OctetLine {
  readonly number: number
  readonly kind: RobotsLineKind
  /** One character per octet. */
  readonly value: string
  readonly text: string
}

/** Rules and delays of the agents named in one run of User-agent lines and what follows it. */
interface Group {
  readonly agents: Set<string>
  readonly rules: OctetLine[]
  readonly usage: OctetLine[]
}

export class RobotsFile {
  /** As written, in order, each once. May be relative. */
  readonly sitemaps: readonly string[]
  /** Whether the end of the file was cut off at the size limit. */
  readonly isCut: boolean
  readonly #lines: readonly OctetLine[]
  readonly #groups: readonly Group[]
  readonly #delaysMs: ReadonlyMap<string, number>
  /** Lines about use that stand before any group speak to everybody. */
  readonly #usageForAll: readonly OctetLine[]

  constructor(lines: readonly OctetLine[], isCut: boolean) {
    this.isCut = isCut
    this.#lines = lines
    const groups: Group[] = []
    const delaysMs = new Map<string, number>()
    const sitemaps = new Set<string>()
    const usageForAll: OctetLine[] = []
    let group: Group | null = null
    /** Agents named since the last line that was not a User-agent line: the ones a Crawl-delay speaks to. */
    let run: string[] = []
    let isRunOpen = false
    for (const line of lines) {
      if (line.kind === 'user-agent') {
        // Only a rule closes a group's head (2.2.1, 2.2.4): a Crawl-delay between two names does not part them.
        if (group === null || group.rules.length > 0) groups.push((group = newGroup()))
        if (!isRunOpen) run = []
        isRunOpen = true
        const agent = agentOf(line.value)
        group.agents.add(agent)
        run.push(agent)
      } else if (line.kind === 'sitemap') {
        if (line.value !== '') sitemaps.add(utf8(line.value))
      } else if (line.kind === 'usage') {
        // Another record between the names of a group does not part them (2.2.4).
        ;(group?.usage ?? usageForAll).push(line)
      } else if (line.kind === 'crawl-delay') {
        isRunOpen = false
        const delayMs = delayMsOf(line.value)
        // Said twice to the same crawler, the longer pause is the one nobody can complain about.
        if (delayMs !== null) for (const agent of run) delaysMs.set(agent, Math.max(delayMs, delaysMs.get(agent) ?? 0))
      } else if (line.kind !== 'unknown') {
        isRunOpen = false
        group?.rules.push(line)
      }
    }
    this.#groups = groups
    this.#delaysMs = delaysMs
    this.#usageForAll = usageForAll
    this.sitemaps = [...sitemaps]
  }

  get lines(): readonly RobotsLine[] {
    return this.#lines.map((line) => ({ ...line, value: utf8(line.value), text: utf8(line.text) }))
  }

  /**
   * What the file says to a crawler: all groups that name its product token, together; else all groups
   * for `*`, together; else nothing.
   */
  rulesFor(productToken: string): RobotsRules {
    const agent = this.#agentFor(productToken)
    const rules: RobotsRule[] = []
    for (const group of this.#groups) {
      if (!group.agents.has(agent)) continue
      for (const line of group.rules) {
        // An empty path matches nothing: "Disallow:" alone forbids nothing (2.2.2).
        if (line.value === '') continue
        rules.push({
          isAllow: line.kind === 'allow',
          path: owned(normaliseRulePath(line.value)),
          line: line.number,
          text: utf8(line.text),
        })
      }
    }
    return new RobotsRules('rules', rules, this.#delaysMs.get(agent) ?? null)
  }

  /** What the same groups say about the use of pages. */
  usageFor(productToken: string): UsageRule[] {
    const agent = this.#agentFor(productToken)
    const lines = [...this.#usageForAll]
    for (const group of this.#groups) if (group.agents.has(agent)) lines.push(...group.usage)
    const rules: UsageRule[] = []
    for (const line of lines.slice(0, USAGE_LINES_MAX)) {
      // `/path terms`; without a path they hold for the whole site.
      const end = line.value.startsWith('/') ? line.value.search(/[ \t]/) : 0
      if (end < 0) continue
      const { denied, allowed } = parseUsageTerms(line.value.slice(end))
      if (denied.length === 0 && allowed.length === 0) continue
      const path = end === 0 ? '/' : owned(normaliseRulePath(line.value.slice(0, end)))
      rules.push({ path, denied, allowed, line: line.number, text: utf8(line.text) })
    }
    return rules
  }

  #agentFor(productToken: string): string {
    const token = productTokenOf(productToken)
    return token !== '' && this.#groups.some((group) => group.agents.has(token)) ? token : '*'
  }
}

function newGroup(): Group {
  return { agents: new Set(), rules: [], usage: [] }
}

/** Reads a robots.txt of any bytes. `isCut` says that the bytes end where a limit of the reader was. */
export function parseRobots(bytes: Uint8Array, isCut = false): RobotsFile {
  const isTooLong = bytes.length > ROBOTS_BYTES_MAX
  const text = octetsOf(isTooLong ? bytes.subarray(0, ROBOTS_BYTES_MAX) : bytes)
  const lines: OctetLine[] = []
  let number = 1
  let start = 0
  const length = text.length
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code !== LF && code !== CR) continue
    readLine(text.slice(start, i), number, lines)
    if (code === CR && i + 1 < length && text.charCodeAt(i + 1) === LF) i++
    number++
    start = i + 1
  }
  // Half a line may say the opposite of the whole: "Disallow: /" of "Disallow: /private".
  const hasHalfLine = isTooLong || isCut
  if (start < length && !hasHalfLine) readLine(text.slice(start), number, lines)
  return new RobotsFile(lines, hasHalfLine)
}

const LF = 0x0a
const CR = 0x0d

function octetsOf(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const [first, second] = buffer
  if (first === 0xff && second === 0xfe)
    return Buffer.from(new TextDecoder('utf-16le').decode(buffer)).toString('latin1')
  if (first === 0xfe && second === 0xff)
    return Buffer.from(new TextDecoder('utf-16be').decode(buffer)).toString('latin1')
  // A byte order mark, whole or with its end missing.
  let start = 0
  for (const mark of [0xef, 0xbb, 0xbf]) {
    if (buffer[start] !== mark) break
    start++
  }
  return buffer.toString('latin1', start)
}

function readLine(line: string, number: number, lines: OctetLine[]): void {
  const comment = line.indexOf('#')
  const text = trimmed(withoutTags(comment < 0 ? line : line.slice(0, comment)))
  if (text === '') return
  const colon = text.indexOf(':')
  let kind = colon < 0 ? undefined : kindOf(text.slice(0, colon))
  let value = kind === undefined ? '' : trimmed(text.slice(colon + 1))
  if (kind === undefined) {
    // "disallow /x": the colon was forgotten. Believed only if exactly one word follows a known name.
    const space = text.search(/[ \t]/)
    const rest = space < 0 ? '' : trimmed(text.slice(space))
    if (rest !== '' && !/[ \t]/.test(rest)) {
      kind = kindOf(text.slice(0, space))
      value = kind === undefined ? '' : rest
    }
  }
  lines.push({ number, kind: kind ?? 'unknown', value, text })
}

function kindOf(name: string): RobotsLineKind | undefined {
  const key = trimmed(name)
  return key.length > NAME_LENGTH_MAX ? undefined : KINDS.get(key.toLowerCase())
}

/** Robots files pasted into HTML pages: `Disallow: /<BR>`. No path holds a bare `<`, so none is lost. */
function withoutTags(text: string): string {
  let open = text.indexOf('<')
  if (open < 0) return text
  let result = ''
  let position = 0
  while (open >= 0) {
    const close = text.indexOf('>', open)
    if (close < 0) break
    result += text.slice(position, open)
    position = close + 1
    open = text.indexOf('<', position)
  }
  return result + text.slice(position)
}

/** `*` when the line speaks to everybody; else the product token it begins with. */
function agentOf(value: string): string {
  return value.startsWith('*') && (value.length === 1 || value.charCodeAt(1) <= 0x20) ? '*' : productTokenOf(value)
}

/** Seconds, maybe with a fraction; anything else says nothing. */
function delayMsOf(value: string): number | null {
  // Request-rate: one page in five seconds, `1/5`, `1/5s`, `10/1m`; the hours that some add are not looked at.
  const rate = /^(\d{1,9})\s*\/\s*(\d{1,9})\s*([smh]?)(?:\s|$)/i.exec(value)
  if (rate !== null && Number(rate[1]) > 0) {
    const unitMs = { s: 1_000, m: 60_000, h: 3_600_000 }[rate[3]?.toLowerCase() ?? ''] ?? 1_000
    return Math.round((Number(rate[2]) * unitMs) / Number(rate[1]))
  }
  if (!/^(?:\d{1,9}\.?\d{0,9}|\.\d{1,9})$/.test(value)) return null
  return Math.round(Number(value) * 1_000)
}

/** Trims ASCII space and controls. String.trim would take 0xA0 too, which here is half of an `à`. */
function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && text.charCodeAt(start) <= 0x20) start++
  while (end > start && text.charCodeAt(end - 1) <= 0x20) end--
  return start === 0 && end === text.length ? text : text.slice(start, end)
}

/**
 * A copy of its own: a slice would keep the whole file in memory as long as the rule lives. Joining and
 * cutting makes V8 write a new string; through a Buffer, reading a file took twice as long (bench/robots.ts).
 */
function owned(octets: string): string {
  return ` ${octets}`.slice(1)
}

function utf8(octets: string): string {
  return /[\x80-\xff]/.test(octets) ? Buffer.from(octets, 'latin1').toString('utf8') : owned(octets)
}
