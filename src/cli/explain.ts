// portolan explain: why one URL of a crawl ended as it did.

import {
  FAILURES,
  formatDuration,
  OPT_OUTS,
  type OptOut,
  type RefusalReason,
  REFUSALS,
  SKIPS,
  systemClock,
} from '../base/index.ts'
import { type CrawlConfig, readConfig, SECTIONS } from '../config/index.ts'
import { type Explanation, explainUrl, formatCount, formatNumberOf, loadCrawlSummary } from '../report/index.ts'
import { canonicalise, type CanonicalUrl, compileCanonicaliser, compileScope } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, shortened, VALUED } from './config-flags.ts'
import { assertCrawl } from './crawl-directory.ts'
import { suggestion } from './read-seeds.ts'
import { loadSettings } from './stored-settings.ts'

const FLAGS = new Map([
  ['dir', VALUED],
  ['json', BARE],
])

/** Where the command writes; the process itself outside tests. */
export interface ExplainStreams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

export const explainCommand: Command = {
  usage: 'explain URL --dir DIR [--json]',
  examples: [
    {
      command: 'portolan explain https://example.org/private/ --dir example.org',
      what: 'which rule, which robots line, found where',
    },
    {
      command: 'portolan explain https://example.org/old --dir example.org --json',
      what: 'all that is known, as JSON',
    },
  ],
  details: () => 'Reads the files of the crawl, whether it is running or not, and asks no server.',
  run: (args) => runExplain(args),
}

export async function runExplain(args: readonly string[], streams: ExplainStreams = process): Promise<number> {
  const { flags, words, problems, value, isSaid } = readOwnArguments(args, FLAGS)
  const [text, more] = words
  const dir = value('dir')
  if (text === undefined) problems.push({ where: 'URL', what: 'which one?' })
  else if (!/^[a-z][a-z0-9+.-]*:/i.test(text) || suggestion(text) !== '') {
    problems.push({ where: quote(text), what: `not a whole URL${suggestion(text)}` })
  }
  if (more !== undefined) problems.push({ where: quote(more), what: 'one URL at a time' })
  if (!isSaid('dir')) problems.push({ where: '--dir', what: 'in which crawl? Name its directory' })
  if (problems.length > 0 || text === undefined || dir === undefined) {
    printProblems('explain', problems, streams.stderr)
    return EXIT.usage.code
  }
  await assertCrawl(dir)
  const { url: options, ...others } = await optionsOf(dir)
  const url = (options === null ? canonicalise : compileCanonicaliser(options))(text)
  if (typeof url !== 'string') {
    const refused = { url: text, state: 'refused', refusal: url.refused }
    streams.stdout.write(flags.has('json') ? `${JSON.stringify(refused)}\n` : describeRefused(text, url.refused))
    return EXIT.ok.code
  }
  const explanation = await explainUrl(dir, url, {
    judge: (seeds, depth) => judge(url, depth, seeds, options),
    frontier: others.frontier,
    crawlDelayMaxMs: others.robots?.crawlDelayMax ?? Infinity,
    wallMs: systemClock.wallMs(),
  })
  streams.stdout.write(flags.has('json') ? `${JSON.stringify(explanation)}\n` : describe(explanation))
  return EXIT.ok.code
}

/** How the crawl treats URLs: as its last run ended with, or one that has not ended was told. Null when nobody can tell. */
async function optionsOf(dir: string): Promise<{
  readonly url: CrawlConfig['url'] | null
  /** As the crawl was told; what a run that has ended says of durations is not what one would write. */
  readonly frontier: CrawlConfig['frontier'] | null
  readonly robots: CrawlConfig['robots'] | null
}> {
  const ended = (await loadCrawlSummary(dir))?.options['url']
  const settings = await loadSettings(dir)
  const read = (content: unknown): CrawlConfig | null => {
    const file = { name: 'the settings of the crawl', content }
    const result = readConfig(SECTIONS, { flags: new Map(), environment: {}, file })
    return result.kind === 'problems' ? null : result.config
  }
  const url = read({ url: { ...(typeof ended === 'object' ? ended : {}), ...settings?.['url'] } })?.url ?? null
  const said = read(settings ?? {})
  return { url, frontier: said?.frontier ?? null, robots: said?.robots ?? null }
}

function judge(
  url: CanonicalUrl,
  depth: number,
  seeds: readonly CanonicalUrl[],
  options: CrawlConfig['url'] | null,
): RefusalReason | null {
  if (options === null) return null
  const scope = compileScope(options)
  for (const seed of seeds) scope.addSeed(seed)
  return scope.judge(url, depth)
}

const NAME_WIDTH = 12

function line(name: string, text: string): string {
  return `${`  ${name}`.padEnd(NAME_WIDTH)}${text}\n`
}

function describeRefused(text: string, refusal: RefusalReason): string {
  return (
    `${shortened(text)}\n` +
    line('state', `refused: ${REFUSALS[refusal]} (${refusal}); every link to it is turned away`)
  )
}

function describe(one: Explanation): string {
  let text = `${shortened(one.url)}\n${line('state', stateOf(one))}`
  if (one.found !== null) text += line('found', foundOf(one.found))
  if (one.linkedFrom.count > 0) text += line('linked', linkedOf(one.linkedFrom))
  if (one.page?.duplicateOf !== undefined) text += line('copy', `same content as ${shortened(one.page.duplicateOf)}`)
  if (one.page?.revisitOf !== undefined) text += line('content', `as it was on ${one.page.revisitOf}`)
  if (one.earlierVisits > 0) text += line('before', `a page ${formatNumberOf(one.earlierVisits, 'time')} before`)
  if (one.page?.location !== undefined) text += line('moved', `to ${shortened(one.page.location)}`)
  if (one.page?.optOuts !== undefined) text += line('asks', optOutsOf(one.page.optOuts, one.page.optOutSource))
  if (one.page?.unstored !== undefined) text += line('archive', 'no copy: it asks for that (robots.optOuts)')
  if (one.page?.warc != null) {
    const { file, offset, length } = one.page.warc
    text += line('archive', `${file} at byte ${formatCount(offset)}, ${formatNumberOf(length, 'byte')}`)
  }
  const admits = isFile(one.url) ? 'admits it, but only files below --allow-files are read' : 'admits it'
  text += line('scope', one.refusal === null ? admits : `refuses it: ${REFUSALS[one.refusal]} (${one.refusal})`)
  text += line('robots', robotsOf(one))
  text += mannersLines(one)
  if (one.rest !== null && one.manners.pause === null) {
    const rested = formatDuration(Math.round(one.rest.restMs))
    text += line('rest', `${one.host} last asked for a pause: ${shortened(one.rest.why)} (rested ${rested})`)
  }
  return text
}

/** How the host is treated, and why: the longest of its rests holds. */
function mannersLines({ host, manners }: Explanation): string {
  const { because, pause, hours, domainRestMs } = manners
  const [first, ...others] = because
  let text = ''
  if (first !== undefined) {
    const less = others.length === 0 ? '' : `; less than that: ${others.join(', ')}`
    text += line('manners', `${shortened(host)} rests between two requests: ${first}${less}`)
  }
  if (domainRestMs > 0) text += line('domain', `its hosts rest together, for ${formatDuration(domainRestMs)}`)
  if (pause !== null) text += line('pause', `until ${pause.until}, asked for with ${shortened(pause.why)}`)
  if (hours !== null) {
    text += line('hours', `${hours.text}; ${hours.opensAt === null ? 'open now' : `closed, opens ${hours.opensAt}`}`)
  }
  return text
}

function stateOf({ state, page, failure, linkedFrom }: Explanation): string {
  switch (state) {
    case 'page':
      return page === null
        ? 'fetched'
        : `fetched ${page.fetchedAt}: status ${page.status}, ${shortened(page.type ?? 'no type')}, ${formatNumberOf(page.bytes, 'byte')}`
    case 'failed':
    case 'skipped': {
      const reason = failure?.reason ?? 'for a reason that was not noted'
      const meaning: string | undefined = { ...FAILURES, ...SKIPS }[reason as keyof typeof FAILURES]
      const detail = failure?.detail ?? ''
      if (meaning === undefined) return `${state}: ${shortened(reason)}`
      return `${state}: ${meaning} (${reason}${detail === '' ? '' : `; ${shortened(detail)}`})`
    }
    case 'waiting':
      return 'waits for its turn'
    case 'never-met':
      return linkedFrom.count > 0
        ? 'never met: each link to it was refused (nofollow, or the scope at the time)'
        : 'never met: no crawled page links to it, or each link to it was refused (nofollow, or the scope at the time)'
  }
}

function foundOf({ via, depth, isSeed }: NonNullable<Explanation['found']>): string {
  const from = via === null ? null : shortened(via)
  if (isSeed) return from === null ? 'a seed' : `what a seed leads to, by redirect from ${from}`
  const way = from === null ? 'in a way that was not noted' : `on ${from}`
  return `${way}, ${formatNumberOf(depth, 'link')} from a seed`
}

function linkedOf({ count, pages }: Explanation['linkedFrom']): string {
  const below = `\n${' '.repeat(NAME_WIDTH)}`
  const rest = count - pages.length
  return (
    `from ${formatNumberOf(count, 'page')}:` +
    pages.map((page) => below + shortened(page)).join('') +
    (rest > 0 ? `${below}and ${formatCount(rest)} more` : '')
  )
}

function optOutsOf(optOuts: readonly string[], source = ''): string {
  const meanings = optOuts.map((name) => `${OPT_OUTS[name as OptOut] ?? 'of another version'} (${shortened(name)})`)
  return `${meanings.join(', ')}${source === '' ? '' : `: ${shortened(source)}`}`
}

function isFile(url: string): boolean {
  return url.startsWith('file:')
}

function robotsOf({ robots, host, url }: Explanation): string {
  if (isFile(url)) return 'files have none'
  if (robots === null) return `robots.txt of ${host} was not asked for`
  if (robots.answer === 'allow-all') return `allowed: there is no robots.txt (${robots.fetchedAt})`
  if (robots.answer === 'disallow-all') {
    const why = robots.trouble === undefined ? '' : `, ${shortened(robots.trouble)}`
    return `nothing is allowed: robots.txt could not be had${why} (${robots.fetchedAt})`
  }
  if (robots.line === null) return 'allowed: no rule matches'
  return `${robots.allowed ? 'allowed' : 'disallowed'} by line ${formatCount(robots.line)}: ${shortened(robots.rule ?? '')}`
}
