// Was the crawler polite? Judged from the server's side, by its log alone:
//
//   on a host     never two requests at once, whatever the connections; and between the end of an
//                 answer and the start of the next request at least the delay. robots.txt, redirects
//                 and retries count like any request.
//   on an IP      at most so many requests at once, and its own delay between an answer and the
//                 next request; requests that overlap are the business of the first rule.
//   on a domain   where it has a rest of its own: as on a host, over all hosts that belong to it.
//   by the clock  nothing is asked of a host while its hours are over.
//
// A request starts, for the server, a little after the client sent it, and an answer ends a little
// before the client has it. Both make the gap look larger, so a polite client is never accused; an
// impolite one is caught unless it errs by less than that little.

import { formatDuration } from '../../src/base/index.ts'
import { type HostKey, registrableDomain } from '../../src/url/index.ts'
import type { LoggedRequest } from './access-log.ts'

export interface PolitenessRules {
  /** Least rest of a host, or of each host by its name (Crawl-delay). */
  readonly delayMs: number | ((host: string) => number)
  readonly ipDelayMs?: number
  /** Requests at once on one address. */
  readonly ipConnections?: number
  /** Least rest of a registrable domain, whose hosts are asked one at a time then; 0 or none: domains do not count. */
  readonly domainDelayMs?: number
  /** Whether a host may be asked at a moment of the server's clock. */
  readonly isOpen?: (host: string, startMs: number) => boolean
  /** Forgiven on every delay, for clocks that tick differently. None by default. */
  readonly toleranceMs?: number
}

export interface Violation {
  readonly rule:
    | 'host-overlap'
    | 'host-delay'
    | 'ip-overlap'
    | 'ip-delay'
    | 'domain-overlap'
    | 'domain-delay'
    | 'closed'
  /** The host or address. */
  readonly key: string
  readonly earlier: LoggedRequest
  readonly later: LoggedRequest
  /** What was kept of the rest; negative for an overlap. */
  readonly gapMs: number
  readonly message: string
}

export function checkPoliteness(requests: Iterable<LoggedRequest>, rules: PolitenessRules): Violation[] {
  const { delayMs, ipDelayMs = 0, ipConnections = Number.POSITIVE_INFINITY, toleranceMs = 0 } = rules
  const { domainDelayMs = 0, isOpen } = rules
  const sorted = [...requests].sort((a, b) => a.startMs - b.startMs)
  const violations: Violation[] = []
  const hostDelay = typeof delayMs === 'number' ? () => delayMs : delayMs

  const lastOfHost = new Map<string, LoggedRequest>()
  const lastOfDomain = new Map<string, LoggedRequest>()
  const lastOfIp = new Map<string, LoggedRequest>()
  const openOnIp = new Map<string, LoggedRequest[]>()
  for (const later of sorted) {
    const earlier = lastOfHost.get(later.host)
    if (earlier !== undefined) {
      const gapMs = later.startMs - earlier.endMs
      if (gapMs < 0) violations.push(violation('host-overlap', later.host, earlier, later, 0))
      else if (gapMs < hostDelay(later.host) - toleranceMs) {
        violations.push(violation('host-delay', later.host, earlier, later, hostDelay(later.host)))
      }
    }
    keepLatest(lastOfHost, later.host, later)
    if (isOpen !== undefined && !isOpen(later.host, later.startMs)) {
      violations.push(violation('closed', later.host, later, later, 0))
    }

    if (domainDelayMs > 0) {
      const domain = registrableDomain(later.host as HostKey)
      const before = lastOfDomain.get(domain)
      const gapMs = later.startMs - (before?.endMs ?? Number.NEGATIVE_INFINITY)
      if (before !== undefined && gapMs < 0) violations.push(violation('domain-overlap', domain, before, later, 0))
      else if (before !== undefined && gapMs < domainDelayMs - toleranceMs) {
        violations.push(violation('domain-delay', domain, before, later, domainDelayMs))
      }
      keepLatest(lastOfDomain, domain, later)
    }

    const open: LoggedRequest[] = []
    for (const request of openOnIp.get(later.ip) ?? []) {
      if (request.endMs > later.startMs) open.push(request)
      else keepLatest(lastOfIp, later.ip, request)
    }
    const oldest = open[0]
    if (oldest !== undefined && open.length >= ipConnections) {
      violations.push(violation('ip-overlap', later.ip, oldest, later, 0))
    }
    open.push(later)
    openOnIp.set(later.ip, open)

    const onIp = lastOfIp.get(later.ip)
    if (onIp !== undefined && ipDelayMs > 0 && later.startMs - onIp.endMs < ipDelayMs - toleranceMs) {
      violations.push(violation('ip-delay', later.ip, onIp, later, ipDelayMs))
    }
  }
  return violations
}

/** The rest counts from the answer that ended last, which need not be the one that started last. */
function keepLatest(latest: Map<string, LoggedRequest>, key: string, request: LoggedRequest): void {
  const before = latest.get(key)
  if (before === undefined || request.endMs >= before.endMs) latest.set(key, request)
}

function violation(
  rule: Violation['rule'],
  key: string,
  earlier: LoggedRequest,
  later: LoggedRequest,
  delayMs: number,
): Violation {
  const gapMs = later.startMs - earlier.endMs
  const what =
    rule === 'closed'
      ? 'was asked outside of its hours'
      : rule.endsWith('-overlap')
        ? 'was asked while an answer was still going out'
        : `rested ${formatDuration(Math.max(0, gapMs))} instead of ${formatDuration(delayMs)}`
  return {
    rule,
    key,
    earlier,
    later,
    gapMs,
    message: `${key} ${what}: ${describe(later)} after ${describe(earlier)}`,
  }
}

function describe(request: LoggedRequest): string {
  const end = Number.isFinite(request.endMs) ? request.endMs.toFixed(1) : 'unfinished'
  return `${request.host}${request.path} [${request.startMs.toFixed(1)}–${end} ms, connection ${request.connection}, status ${request.status}]`
}
