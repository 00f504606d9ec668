// The robots.txt of a host, as text for the crawler and as a predicate for the truth. The two are
// written side by side: the truth never reads the text back.

import { asFraction, mix } from './mix.ts'
import type { Faults } from './variant.ts'

/** What a robots.txt may be like; every host has one of these. */
export const ROBOTS_KINDS = [
  'open',
  'some',
  'wildcard',
  'named-group',
  'delay',
  'missing',
  'forbidden',
  'broken',
  'moved',
  'moved-away',
  'huge',
] as const
export type RobotsKind = (typeof ROBOTS_KINDS)[number]

export function presetRobots(faults: Faults): Partial<Record<RobotsKind, number>> {
  if (faults === 'none') return { open: 1 }
  if (faults === 'mild') return { open: 6, some: 3, wildcard: 2, 'named-group': 2, missing: 2, moved: 1 }
  return Object.fromEntries(ROBOTS_KINDS.map((kind) => [kind, kind === 'open' ? 3 : 1]))
}

export interface RobotsPlan {
  readonly kind: RobotsKind
  /** Status of /robots.txt itself. */
  readonly status: number
  /** The rules, wherever they stand in the end. Empty where there are none. */
  readonly text: string
  /** 'own': /robots.txt redirects to a file of this host; 'other': to a file of the next host. */
  readonly movedTo: 'own' | 'other' | null
  /** 'rules' are asked with allows(); the others are the same for every path. */
  readonly access: 'rules' | 'all' | 'unavailable'
  readonly crawlDelayS: number | null
  /** Whether a crawler that calls itself `agent` may ask for a path (with query). */
  allows(pathAndQuery: string, agent: string): boolean
}

/** Where redirected robots.txt files stand. */
export const MOVED_ROBOTS_PATH = '/_/robots-moved.txt'
/** Followed by the number of the host the rules bind. */
export const MOVED_AWAY_ROBOTS_PATH = '/_/robots-of/'

const within =
  (...prefixes: string[]) =>
  (path: string): boolean =>
    prefixes.some((prefix) => path.startsWith(prefix))

const isPrivate = within('/private/', '/tmp/')
const everyPath = (): boolean => true
const SOME_RULES = 'User-agent: *\nDisallow: /private/\nDisallow: /tmp/\n'

/** Chooses the kind by weight, from a hash of the host. */
export function chooseRobots(shares: Partial<Record<RobotsKind, number>>, hash: number): RobotsKind {
  let total = 0
  for (const kind of ROBOTS_KINDS) total += shares[kind] ?? 0
  if (total <= 0) return 'open'
  let left = asFraction(mix(hash, 0x20b0)) * total
  for (const kind of ROBOTS_KINDS) {
    left -= shares[kind] ?? 0
    if (left < 0) return kind
  }
  return 'open'
}

export function planRobots(kind: RobotsKind, crawlDelayS: number, sitemapUrl: string | null): RobotsPlan {
  const sitemap = sitemapUrl === null ? '' : `\nSitemap: ${sitemapUrl}\n`
  const rules = (
    text: string,
    allows: RobotsPlan['allows'],
    more: Partial<Pick<RobotsPlan, 'status' | 'movedTo' | 'crawlDelayS'>> = {},
  ): RobotsPlan => ({
    kind,
    status: 200,
    text: text + sitemap,
    movedTo: null,
    access: 'rules',
    crawlDelayS: null,
    allows,
    ...more,
  })
  const bare = (status: number, access: 'all' | 'unavailable'): RobotsPlan => ({
    kind,
    status,
    text: '',
    movedTo: null,
    access,
    crawlDelayS: null,
    allows: () => access === 'all',
  })

  switch (kind) {
    case 'open':
      return rules('# Come in.\nUser-agent: *\nDisallow:\n', everyPath)
    case 'some':
      return rules(SOME_RULES, (path) => !isPrivate(path))
    case 'wildcard':
      // The longest rule decides: '/private/*.html$' (16) is longer than '/private/' (9).
      return rules(
        'User-agent: *\nDisallow: /*?id=\nDisallow: /private/\nAllow: /private/*.html$\nDisallow: /*.pdf$\n',
        (path) => {
          if (path.includes('?id=')) return false
          if (path.startsWith('/private/')) return path.endsWith('.html')
          return !path.endsWith('.pdf')
        },
      )
    case 'named-group':
      return rules(
        'User-agent: portolan\nUser-agent: otherbot\nDisallow: /blog/\n\nUser-agent: *\nDisallow: /\n',
        (path, agent) => (isNamed(agent) ? !path.startsWith('/blog/') : path === '/robots.txt'),
      )
    case 'delay':
      return rules(
        `User-agent: *\nCrawl-delay: ${crawlDelayS}\nDisallow: /tmp/\n`,
        (path) => !path.startsWith('/tmp/'),
        {
          crawlDelayS,
        },
      )
    case 'missing':
      return bare(404, 'all')
    case 'forbidden':
      return bare(403, 'all')
    case 'broken':
      return bare(500, 'unavailable')
    case 'moved':
      return rules(SOME_RULES, (path) => !isPrivate(path), { status: 301, movedTo: 'own' })
    case 'moved-away':
      return rules(SOME_RULES, (path) => !isPrivate(path), { status: 302, movedTo: 'other' })
    default:
      return rules(hugeText(), (path) => !isPrivate(path))
  }
}

function isNamed(agent: string): boolean {
  const name = agent.toLowerCase()
  return name === 'portolan' || name === 'otherbot'
}

/**
 * Rules, then a mebibyte of comment, then a rule against everything: it stands beyond the 500 KiB a
 * crawler reads (RFC 9309), so it must not count.
 */
function hugeText(): string {
  const line = `# ${'.'.repeat(126)}\n`
  return `${SOME_RULES}${line.repeat(8_192)}Disallow: /\n`
}
