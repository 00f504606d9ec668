// A crawl as plainly as it can be written, to compare Portolan with: node's own HTTP client, parse5's tree, the
// platform's URL. It shares with the crawler no code that fetches, decodes, resolves or remembers; what counts as
// a link is the oracle's word (parse5-links.ts).
//
//     seeds ─▶ waiting ─▶ fetch ─▶ parse5 ─▶ links of the same host ─▶ seen? ─▶ waiting
//
// It asks as fast as it can and knows no robots.txt: for servers of our own only.

import { Agent, get, type IncomingMessage } from 'node:http'
import { cssLinks } from '../../src/parse/css.ts'
import { oraclePage, resolvedLinks } from './parse5-links.ts'

const CONNECTIONS = 4
/** A crawl that finds more is no documentation. */
const PAGES_MAX = 200_000

/** Every URL that links of the seeds' hosts lead to, and what status the server answered with. */
export async function walk(seeds: readonly string[]): Promise<Map<string, number>> {
  const hosts = new Set(seeds.map((seed) => new URL(seed).host))
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const statuses = new Map<string, number>()
  const seen = new Set<string>()
  const waiting: string[] = []
  const add = (url: URL | null): void => {
    if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || !hosts.has(url.host)) return
    const name = canonical(url)
    if (seen.has(name) || seen.size >= PAGES_MAX) return
    seen.add(name)
    waiting.push(name)
  }
  for (const seed of seeds) add(URL.parse(seed))

  const worker = async (): Promise<void> => {
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      const answer = await fetched(url, agent)
      statuses.set(url, answer.status)
      for (const link of linksOf(url, answer)) add(link)
    }
  }
  // Workers end when nothing waits; what others bring meanwhile starts them again.
  while (waiting.length > 0) await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  agent.destroy()
  return statuses
}

/** What is one page by RFC 3986: no fragment, escapes in capitals, and none of characters that need none. */
function canonical(url: URL): string {
  const { href } = url
  const bare = href.includes('#') ? href.slice(0, href.indexOf('#')) : href
  return bare.replace(/%[0-9a-f]{2}/gi, (escape) => {
    const character = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase()
  })
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly charset: string | null
  readonly location: string | null
  readonly body: Buffer
}

function fetched(url: string, agent: Agent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response: IncomingMessage) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const [type = '', ...parameters] = (response.headers['content-type'] ?? '').toLowerCase().split(';')
        resolve({
          status: response.statusCode ?? 0,
          type: type.trim(),
          charset: /charset=([^ ;]+)/.exec(parameters.join(';'))?.[1] ?? null,
          location: response.headers.location ?? null,
          body: Buffer.concat(chunks),
        })
      })
    }).on('error', reject)
  })
}

function* linksOf(url: string, answer: Answer): Generator<URL | null> {
  if (answer.location !== null) yield URL.parse(answer.location, url)
  if (answer.type === 'text/html') {
    const page = oraclePage(textOf(answer))
    for (const link of resolvedLinks(page.links, page.baseHref, url)) yield URL.parse(link.slice(link.indexOf(' ') + 1))
  } else if (answer.type === 'text/css') {
    for (const href of cssLinks(textOf(answer))) yield URL.parse(href, url)
  }
}

/** In the encoding that header, mark or meta name; else UTF-8 if it is that, else windows-1252. */
function textOf({ body, charset }: Answer): string {
  const declared = charset ?? /charset\s*=\s*["']?\s*([\w.:-]+)/i.exec(body.toString('latin1', 0, 1024))?.[1] ?? null
  if (declared !== null) {
    try {
      return new TextDecoder(declared).decode(body)
    } catch {
      // No encoding of that name.
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    return new TextDecoder('windows-1252').decode(body)
  }
}
