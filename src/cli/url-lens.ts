// `portolan url`: what becomes of a link, and where its host belongs.

import { parseArgs } from 'node:util'
import { Fault, REFUSALS } from '../base/index.ts'
import {
  canonicalise,
  type CanonicalUrl,
  defaultKey,
  Fingerprinter,
  formatFingerprint,
  hostKeyOf,
  type Refusal,
  slotOf,
} from '../url/index.ts'
import { type Command, EXIT } from './command.ts'

/** Where the lens writes; the process itself outside tests. */
export interface UrlLensStreams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

export const urlLens: Command = {
  name: 'url',
  summary: 'Show the canonical form of links, their host key, slot and fingerprint.',
  usage: 'url <url…> [--base URL] [--charset C] [--json]',
  examples: [
    {
      command: "portolan url 'HTTP://Example.org:80/a/../%7euser#top'",
      what: 'one line: canonical URL, host key, slot, fingerprint (tabs between)',
    },
    {
      command: "portolan url --base https://example.org/docs/ ../img/logo.png 'mailto:me@example.org'",
      what: 'links as they stand on a page; what is refused goes to stderr with its reason',
    },
    {
      command: "portolan url --base https://example.jp/ --charset shift_jis '?q=日本'",
      what: 'a query takes the encoding of its page',
    },
  ],
  details: () =>
    'The slot, 0 to 65535, is the share of all hosts this one belongs to: the top 16 bits of the fingerprint.\n' +
    'A crawl keys its fingerprints; here a fixed key stands in, so they are the same everywhere.\n' +
    'Exit code 1 if any link was refused.',
  run: (args) => urlCommand(args),
}

interface UrlArguments {
  readonly values: { base?: string | undefined; charset?: string | undefined; json: boolean }
  readonly positionals: string[]
}

export async function urlCommand(args: string[], streams: UrlLensStreams = process): Promise<number> {
  const { values, positionals } = parse(args)
  if (positionals.length === 0) throw new Fault('CONFIG_INVALID', 'which URLs? Name at least one')
  const base = values.base === undefined ? null : baseOf(values.base)
  const encoding = values.charset === undefined ? 'utf-8' : encodingOf(values.charset)

  const fingerprinter = new Fingerprinter(defaultKey)
  const described = positionals.map((link) => describe(link, canonicalise(link, base, encoding), fingerprinter))
  for (const entry of described) {
    if ('refused' in entry) {
      streams.stderr.write(`portolan: '${entry.link}' is refused (${entry.refused}): ${REFUSALS[entry.refused]}\n`)
    } else if (!values.json) {
      streams.stdout.write(`${entry.url}\t${entry.host}\t${entry.slot}\t${entry.fingerprint}\n`)
    }
  }
  if (values.json) streams.stdout.write(`${JSON.stringify({ urls: described })}\n`)
  return described.some((entry) => 'refused' in entry) ? EXIT.failed.code : EXIT.ok.code
}

type Described =
  | { link: string; url: CanonicalUrl; host: string; slot: number; fingerprint: string }
  | ({ link: string } & Refusal)

function describe(link: string, url: CanonicalUrl | Refusal, fingerprinter: Fingerprinter): Described {
  if (typeof url !== 'string') return { link, refused: url.refused }
  fingerprinter.compute(url)
  const { high, low } = fingerprinter
  return { link, url, host: hostKeyOf(url), slot: slotOf(high), fingerprint: formatFingerprint(high, low) }
}

function parse(args: string[]): UrlArguments {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        base: { type: 'string' },
        charset: { type: 'string' },
        json: { type: 'boolean', default: false },
      },
    })
  } catch (cause) {
    // parseArgs throws for unknown and incomplete options only, with a message made for people.
    throw new Fault('CONFIG_INVALID', cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function baseOf(text: string): CanonicalUrl {
  const base = canonicalise(text)
  if (typeof base === 'string') return base
  throw new Fault(
    'CONFIG_INVALID',
    `--base '${text}' is no page of a crawl (${base.refused}): ${REFUSALS[base.refused]}`,
  )
}

function encodingOf(label: string): string {
  try {
    return new TextDecoder(label).encoding
  } catch (cause) {
    throw new Fault('CONFIG_INVALID', `--charset '${label}' is no encoding of the web, like utf-8 or shift_jis`, cause)
  }
}
