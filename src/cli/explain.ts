// portolan explain: why one URL of a crawl ended as it did.

import { join } from 'node:path'
import { FAILURES, Fault, REFUSALS, SKIPS } from '../base/index.ts'
import { readArguments, readConfig, SECTIONS } from '../config/index.ts'
import { journalExists } from '../ledger/index.ts'
import { type Explanation, explainUrl, loadCrawlSummary, printable } from '../report/index.ts'
import { canonicalise, compileScope } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { printProblems } from './config-flags.ts'

const FLAGS = new Map([
  ['dir', { takesValue: true, repeats: false }],
  ['json', { takesValue: false, repeats: false }],
])

export const explainCommand: Command = {
  name: 'explain',
  summary: 'Says why a URL of a crawl was fetched, skipped, refused, or still waits.',
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
  run: async (args) => {
    const { flags, words, problems } = readArguments(args, FLAGS)
    const [text] = words
    const dir = flags.get('dir') as string | undefined
    for (const flag of flags.keys()) if (!FLAGS.has(flag)) problems.push({ where: `--${flag}`, what: 'unknown' })
    if (text === undefined) problems.push({ where: 'URL', what: 'which one?' })
    if (words.length > 1) problems.push({ where: `'${words[1]}'`, what: 'one URL at a time' })
    if (dir === undefined) problems.push({ where: '--dir', what: 'in which crawl? Name its directory' })
    const url = text === undefined ? null : canonicalise(text)
    if (url !== null && typeof url !== 'string') problems.push({ where: `'${text}'`, what: REFUSALS[url.refused] })
    if (problems.length > 0 || typeof url !== 'string' || dir === undefined) {
      printProblems('explain', problems)
      return EXIT.usage.code
    }
    if (!(await journalExists(join(dir, 'state/ledger.log')))) {
      throw new Fault('CONFIG_INVALID', `there is no crawl in ${dir}`)
    }
    const options = (await loadCrawlSummary(dir))?.options ?? {}
    const config = readConfig(SECTIONS, {
      flags: new Map(),
      environment: {},
      file: { name: 'crawl.json', content: { url: scopeOf(options) } },
    })
    const explanation = await explainUrl(dir, url, (seeds, depth) => {
      if (config.kind === 'problems') return null
      const scope = compileScope(config.config.url)
      for (const seed of seeds) scope.addSeed(seed)
      return scope.judge(url, depth)
    })
    process.stdout.write(flags.has('json') ? `${JSON.stringify(explanation)}\n` : describe(explanation))
    return EXIT.ok.code
  },
}

function scopeOf(options: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const url = options['url']
  return typeof url === 'object' && url !== null ? (url as Record<string, unknown>) : {}
}

function describe(one: Explanation): string {
  const lines: string[] = [printable(one.url)]
  const say = (name: string, text: string): void => void lines.push(`  ${name.padEnd(9)} ${printable(text)}`)
  say('state', stateOf(one))
  if (one.found !== null) {
    const way = one.found.isSeed
      ? one.found.via === null
        ? 'a seed'
        : `a seed, by redirect from ${one.found.via}`
      : `on ${one.found.via ?? 'nothing'}`
    say('found', `${way}, ${one.found.depth} links from the seeds, band ${one.found.band}`)
  }
  if (one.linkedFrom.count > 0) {
    say('linked', `from ${one.linkedFrom.count} pages, among them ${one.linkedFrom.pages.join(', ')}`)
  }
  if (one.page?.duplicateOf !== undefined) say('copy', `same content as ${one.page.duplicateOf}`)
  if (one.page?.location !== undefined) say('moved', `to ${one.page.location}`)
  if (one.page?.warc != null)
    say('archive', `${one.page.warc.file} at byte ${one.page.warc.offset}, ${one.page.warc.length} bytes`)
  say('scope', one.refusal === null ? 'admits it' : `refuses it: ${one.refusal}, ${REFUSALS[one.refusal]}`)
  say('robots', robotsOf(one))
  if (one.state === 'waiting') say('queue', `${one.hostWaiting} URLs of ${one.host} wait`)
  if (one.rest !== null)
    say('rest', `${one.host} last asked for a pause: ${one.rest.why} (rested ${Math.round(one.rest.restMs)} ms)`)
  return `${lines.join('\n')}\n`
}

function stateOf({ state, page, failure }: Explanation): string {
  switch (state) {
    case 'page':
      return page === null
        ? state
        : `fetched ${page.fetchedAt}: status ${page.status}, ${page.type ?? 'no type'}, ${page.bytes} bytes`
    case 'failed':
    case 'skipped': {
      const reason = failure?.reason ?? ''
      const meaning = { ...FAILURES, ...SKIPS }[reason as keyof typeof FAILURES] ?? ''
      return `${state}: ${reason}, ${meaning} (${failure?.detail ?? ''})`
    }
    case 'waiting':
      return 'waits for its turn'
    case 'never-met':
      return 'never met: no page that was crawled links to it, or the link was refused'
  }
}

function robotsOf({ robots, host }: Explanation): string {
  if (robots === null) return `robots.txt of ${host} was not asked for`
  if (robots.answer === 'allow-all') return `allowed: there is no robots.txt (${robots.fetchedAt})`
  if (robots.answer === 'disallow-all') return `nothing is allowed: robots.txt could not be had (${robots.fetchedAt})`
  if (robots.line === null) return 'allowed: no rule matches'
  return `${robots.allowed ? 'allowed' : 'disallowed'} by line ${robots.line}: ${robots.rule}`
}
