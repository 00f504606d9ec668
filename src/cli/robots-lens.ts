// `portolan robots`: what a robots.txt says to a crawler about some URLs, and by which line.

import { parseRobots, productTokenOf, type RobotsDecision } from '../robots/index.ts'
import { printable } from '../report/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'
import { type LensStreams, readInput } from './lens-input.ts'

const FLAGS = new Map([
  ['agent', VALUED],
  ['json', BARE],
])

export const robotsLens: Command = {
  usage: 'robots <file|-> --agent NAME <url…> [--json]',
  examples: [
    {
      command: 'portolan robots robots.txt --agent portolan https://example.org/private/',
      what: 'one line: allowed or disallowed, the URL, the deciding line (tabs between)',
    },
    {
      command: 'curl -s https://example.org/robots.txt | portolan robots - --agent "Portolan/1.0" / /search?q=x',
      what: 'the file from standard input; of a User-Agent its first token counts; paths will do for URLs',
    },
    {
      command: 'portolan robots robots.txt --agent portolan --json /a /b',
      what: 'one JSON object with line numbers, crawl delay and sitemaps',
    },
  ],
  details: () =>
    'A "-" for the line means that no rule matches, so the URL is allowed. Rules are read by RFC 9309:\n' +
    'the longest match decides, an allow wins a tie. Host and scheme of the URLs are not looked at.',
  run: (args) => robotsCommand(args),
}

export async function robotsCommand(args: string[], streams: LensStreams = process): Promise<number> {
  const { flags, words, problems, value, isSaid } = readOwnArguments(args, FLAGS)
  const [path, ...urls] = words
  if (path === undefined) {
    problems.push({ where: 'FILE', what: "which one? Name a robots.txt, or '-' for standard input" })
  }
  const agent = value('agent')
  if (!isSaid('agent')) problems.push({ where: '--agent', what: 'for which crawler? Say --agent NAME' })
  if (agent !== undefined && productTokenOf(agent) === '') {
    problems.push({ where: '--agent', what: `${quote(agent)} begins with no name, like 'portolan' or 'Portolan/1.0'` })
  }
  if (urls.length === 0) problems.push({ where: 'URL', what: 'about which ones? Name at least one' })
  if (problems.length > 0 || path === undefined || agent === undefined) {
    printProblems('robots', problems, streams.stderr)
    return EXIT.usage.code
  }

  const file = parseRobots(await readInput(path, streams))
  const rules = file.rulesFor(agent)
  const decided: { url: string; decision: RobotsDecision }[] = []
  let exitCode: number = EXIT.ok.code
  for (const url of urls) {
    const pathAndQuery = pathAndQueryOf(url)
    if (pathAndQuery === null) {
      streams.stderr.write(`portolan: ${quote(url)} is neither a URL nor a path\n`)
      exitCode = EXIT.failed.code
      continue
    }
    decided.push({ url, decision: rules.decide(pathAndQuery) })
  }
  if (flags.has('json')) {
    const answer = {
      agent: productTokenOf(agent),
      crawlDelaySeconds: rules.crawlDelayMs === null ? null : rules.crawlDelayMs / 1_000,
      sitemaps: file.sitemaps,
      decisions: decided.map(({ url, decision }) => ({ url, ...decision })),
    }
    streams.stdout.write(`${JSON.stringify(answer)}\n`)
  } else {
    for (const { url, decision } of decided) {
      streams.stdout.write(`${decision.allowed ? 'allowed' : 'disallowed'}\t${printable(url)}\t${lineText(decision)}\n`)
    }
  }
  return exitCode
}

/** A line of somebody's file: what would act on a terminal is made visible, and a tab would look like another column. */
function lineText(decision: RobotsDecision): string {
  return decision.rule === null ? '-' : printable(decision.rule)
}

function pathAndQueryOf(text: string): string | null {
  // A path alone is taken as one of any site; `//x` as well, which a URL parser would take for a host.
  const url = text.startsWith('/') ? URL.parse(`http://site.invalid${text}`) : URL.parse(text)
  return url === null || url.host === '' ? null : url.pathname + url.search
}
