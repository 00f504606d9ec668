// `portolan links`: the links a crawl would find in a page, made canonical.

import { REFUSALS } from '../base/index.ts'
import { encodingOf, scanHtml } from '../parse/index.ts'
import { parseOptions } from '../parse/options.ts'
import { BaseUrl, canonicalise } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'
import { type LensStreams, readInput } from './lens-input.ts'

const FLAGS = new Map([
  ['base', VALUED],
  ['charset', VALUED],
  ['json', BARE],
])

export const linksLens: Command = {
  usage: 'links <file.html|-> --base URL [--charset C] [--json]',
  examples: [
    {
      command: 'portolan links index.html --base https://example.org/docs/',
      what: 'one URL per line, fragments dropped, repetitions removed',
    },
    {
      command: 'curl -s https://example.org/ | portolan links - --base https://example.org/',
      what: 'the page from standard input',
    },
    {
      command: 'portolan links alt.html --base http://example.jp/ --charset shift_jis',
      what: 'with the charset the server named; it decides how queries are encoded',
    },
  ],
  details: () =>
    'A <base> in the page is resolved against --base first. Links of other schemes than http, https, ftp, ftps, gopher and file,\n' +
    'and those that are no URLs, are left out. --json adds kind, nofollow, title, language, encoding and robots metas.',
  run: (args) => linksCommand(args),
}

export async function linksCommand(args: string[], streams: LensStreams = process): Promise<number> {
  const { flags, words, problems, value, isSaid } = readOwnArguments(args, FLAGS)
  const [path, ...more] = words
  if (path === undefined) {
    problems.push({ where: 'FILE', what: "which page? Name an HTML file, or '-' for standard input" })
  }
  if (more[0] !== undefined) problems.push({ where: quote(more[0]), what: 'one page at a time' })
  const given = value('base')
  const url = given === undefined ? null : canonicalise(given)
  if (!isSaid('base')) problems.push({ where: '--base', what: 'where was the page? Say --base URL' })
  if (given !== undefined && url !== null && typeof url !== 'string') {
    problems.push({ where: '--base', what: `${quote(given)} is no URL of a page: ${REFUSALS[url.refused]}` })
  }
  const charset = value('charset') ?? null
  if (charset !== null && encodingOf(charset) === null) {
    problems.push({ where: '--charset', what: `${quote(charset)} names no encoding; 'utf-8' and 'shift_jis' do` })
  }
  if (problems.length > 0 || path === undefined || typeof url !== 'string') {
    printProblems('links', problems, streams.stderr)
    return EXIT.usage.code
  }

  const page = scanHtml(await readInput(path, streams), { charset }, parseOptions.parse({}))
  const base = BaseUrl.ofPage(url, page.baseHref)
  const links = new Map<string, { kind: string; isNofollow: boolean }>()
  for (const { href, kind, isNofollow } of page.links) {
    const canonical = canonicalise(href, base, page.encoding)
    if (typeof canonical === 'string' && !links.has(canonical)) links.set(canonical, { kind, isNofollow })
  }
  if (flags.has('json')) {
    const { title, language, encoding, canonical, metaRobots } = page
    const found = [...links].map(([link, facts]) => ({ url: link, ...facts }))
    streams.stdout.write(`${JSON.stringify({ title, language, encoding, canonical, metaRobots, links: found })}\n`)
  } else if (links.size > 0) {
    streams.stdout.write(`${[...links.keys()].join('\n')}\n`)
  }
  return EXIT.ok.code
}
