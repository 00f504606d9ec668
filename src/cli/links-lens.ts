// `portolan links`: the links a crawl would find in a page, made canonical.

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { parseArgs } from 'node:util'
import { Fault } from '../base/index.ts'
import { encodingOf, parseOptions, scanHtml } from '../parse/index.ts'
import { BaseUrl, canonicalise } from '../url/index.ts'
import { type Command, EXIT } from './command.ts'
import type { LensStreams } from './robots-lens.ts'

export const linksLens: Command = {
  name: 'links',
  summary: 'List the links of an HTML page, canonical, in document order.',
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
    'A <base> in the page is resolved against --base first. Links of other schemes than http, https, ftp and gopher,\n' +
    'and those that are no URLs, are left out. --json adds kind, nofollow, title, language, encoding and robots metas.',
  run: (args) => linksCommand(args),
}

export async function linksCommand(args: string[], streams: LensStreams = process): Promise<number> {
  const { values, positionals } = parse(args)
  const [path, ...more] = positionals
  if (path === undefined) throw new Fault('CONFIG_INVALID', "which page? Name an HTML file, or '-' for standard input")
  if (more.length > 0) throw new Fault('CONFIG_INVALID', `one page at a time; what is '${more[0]}'?`)
  if (values.base === undefined) throw new Fault('CONFIG_INVALID', 'where was the page? Say --base URL')
  const url = canonicalise(values.base)
  if (typeof url !== 'string') {
    throw new Fault('CONFIG_INVALID', `--base '${values.base}' is no URL of a page (${url.refused})`)
  }
  if (values.charset !== undefined && encodingOf(values.charset) === null) {
    throw new Fault('CONFIG_INVALID', `--charset '${values.charset}' names no encoding; 'utf-8' and 'shift_jis' do`)
  }

  const page = scanHtml(await read(path, streams), { charset: values.charset ?? null }, parseOptions.parse({}))
  const base = BaseUrl.ofPage(url, page.baseHref)
  const links = new Map<string, { kind: string; isNofollow: boolean }>()
  for (const { href, kind, isNofollow } of page.links) {
    const canonical = canonicalise(href, base, page.encoding)
    if (typeof canonical === 'string' && !links.has(canonical)) links.set(canonical, { kind, isNofollow })
  }
  if (values.json) {
    const { title, language, encoding, canonical, metaRobots } = page
    const found = [...links].map(([link, facts]) => ({ url: link, ...facts }))
    streams.stdout.write(`${JSON.stringify({ title, language, encoding, canonical, metaRobots, links: found })}\n`)
  } else if (links.size > 0) {
    streams.stdout.write(`${[...links.keys()].join('\n')}\n`)
  }
  return EXIT.ok.code
}

interface Values {
  base?: string | undefined
  charset?: string | undefined
  json: boolean
}

function parse(args: string[]): { values: Values; positionals: string[] } {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: { base: { type: 'string' }, charset: { type: 'string' }, json: { type: 'boolean', default: false } },
    })
  } catch (cause) {
    // parseArgs throws for unknown and incomplete options only, with a message made for people.
    throw new Fault('CONFIG_INVALID', cause instanceof Error ? cause.message : String(cause), cause)
  }
}

async function read(path: string, streams: LensStreams): Promise<Uint8Array> {
  if (path === '-') return buffer(streams.stdin)
  try {
    return await readFile(path)
  } catch (cause) {
    const errno = (cause as NodeJS.ErrnoException).code ?? String(cause)
    throw new Fault('CONFIG_INVALID', `cannot read '${path}': ${errno}`, cause)
  }
}
