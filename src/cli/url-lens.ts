// `portolan url`: what becomes of a link, and where its host belongs.

import { REFUSALS } from '../base/index.ts'
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
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'

const FLAGS = new Map([
  ['base', VALUED],
  ['charset', VALUED],
  ['json', BARE],
])

/** Where the lens writes; the process itself outside tests. */
export interface UrlLensStreams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

export const urlLens: Command = {
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

export async function urlCommand(args: string[], streams: UrlLensStreams = process): Promise<number> {
  const { flags, words, problems, value } = readOwnArguments(args, FLAGS)
  if (words.length === 0) problems.push({ where: 'URL', what: 'which ones? Name at least one' })
  const given = value('base')
  const base = given === undefined ? null : canonicalise(given)
  if (given !== undefined && base !== null && typeof base !== 'string') {
    const why = `(${base.refused}): ${REFUSALS[base.refused]}`
    problems.push({ where: '--base', what: `${quote(given)} is no page of a crawl ${why}` })
  }
  const charset = value('charset') ?? 'utf-8'
  const encoding = encodingOf(charset)
  if (encoding === null) {
    problems.push({ where: '--charset', what: `${quote(charset)} is no encoding of the web, like utf-8 or shift_jis` })
  }
  if (problems.length > 0 || encoding === null) {
    printProblems('url', problems, streams.stderr)
    return EXIT.usage.code
  }

  const fingerprinter = new Fingerprinter(defaultKey)
  const page = typeof base === 'string' ? base : null
  const described = words.map((link) => describe(link, canonicalise(link, page, encoding), fingerprinter))
  const isJson = flags.has('json')
  for (const entry of described) {
    if ('refused' in entry) {
      streams.stderr.write(`portolan: ${quote(entry.link)} is refused (${entry.refused}): ${REFUSALS[entry.refused]}\n`)
    } else if (!isJson) {
      streams.stdout.write(`${entry.url}\t${entry.host}\t${entry.slot}\t${entry.fingerprint}\n`)
    }
  }
  if (isJson) streams.stdout.write(`${JSON.stringify({ urls: described })}\n`)
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

function encodingOf(label: string): string | null {
  try {
    return new TextDecoder(label).encoding
  } catch {
    // A RangeError, whose message says no more.
    return null
  }
}
