// Which turns of ours others may have, and what they bring back (src/exchange/lent-turns.ts, docs/decisions/0043).
//
//   a turn of a giant host ── we are short of room? somebody has time? ──▶ lent ──▶ answers ──▶ the visitor settles them as its own
//                          └─ no: asked by ourselves, as ever
//
// Never lent: what was asked for before and did not come (tries, pauses), pages that are returned to, hosts that set cookies (those are
// ours), what is not HTTP, and what another could not bring.

import type { Address } from '../dns/index.ts'
import type { CarriedAnswer, Document } from '../document/index.ts'
import type { LentAnswer, LentTurns } from '../exchange/index.ts'
import type { FetchOutcome } from '../fetch/index.ts'
import type { BrokenVisits } from './broken-visits.ts'
import type { Frontier, FrontierEntry, Turn } from '../frontier/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'

export interface LendingParts {
  readonly turns: LentTurns
  readonly frontier: Pick<Frontier, 'inspect'>
  /** A host with more URLs waiting is one. */
  readonly giantHost: number
  /** Whether we could not ask anybody more than we do now. */
  readonly isShort: () => boolean
  readonly open: (answer: CarriedAnswer) => Promise<Document>
  /** So many more of our turns are out elsewhere. */
  readonly onLent: (by: 1 | -1) => void
  readonly signal: AbortSignal
  readonly broken: BrokenVisits
}

/** What others brought, by URL. */
export type Brought = ReadonlyMap<CanonicalUrl, LentAnswer>

const NOTHING: Brought = new Map()
/** Hosts and URLs that we ask ourselves; the oldest are forgotten. */
const OWN_MAX = 4_096

export class Lending {
  readonly #parts: LendingParts
  readonly #own = new Set<string>()

  constructor(parts: LendingParts) {
    this.#parts = parts
  }

  /** Whether a turn is to be lent whose next entry is this one. */
  wants({ host }: Turn, entry: FrontierEntry): boolean {
    const { turns, frontier, giantHost, isShort } = this.#parts
    if (!isShort() || !this.isPlain(entry) || this.#own.has(host)) return false
    const waiting = frontier.inspect(host)?.waiting ?? 0
    return waiting > giantHost && turns.mayLend()
  }

  /** Whether anybody may ask for it as well as we. */
  isPlain({ url, tries, pauses }: FrontierEntry): boolean {
    return tries === 0 && pauses === 0 && url.startsWith('http') && !this.#own.has(url)
  }

  /** Ours alone from now on: a URL that another could not bring, a host that has set cookies, which only we have. */
  keep(own: CanonicalUrl | HostKey): void {
    const [oldest] = this.#own.size < OWN_MAX ? [] : this.#own
    if (oldest !== undefined) this.#own.delete(oldest)
    this.#own.add(own)
  }

  /** Lends a turn. What does not come back is ours to ask, after the rest that is due. */
  async lend(urls: readonly CanonicalUrl[], addresses: readonly Address[]): Promise<Brought> {
    const { turns, onLent, signal } = this.#parts
    onLent(1)
    let stop = (): void => {}
    const stopped = new Promise<null>((resolve) => {
      stop = () => resolve(null)
      signal.addEventListener('abort', stop)
    })
    try {
      const answers = await Promise.race([turns.lend({ urls, addresses }), stopped])
      if (answers === null) return NOTHING
      const brought = new Map(answers.map((one) => [one.kind === 'fetched' ? one.answer.url : one.url, one]))
      // Whatever it was: nobody tries again but we.
      const [first] = urls
      if (first !== undefined && !brought.has(first)) this.keep(first)
      return brought
    } finally {
      signal.removeEventListener('abort', stop)
      onLent(-1)
    }
  }

  async outcomeOf(answer: LentAnswer): Promise<FetchOutcome> {
    if (answer.kind === 'skipped') return answer
    const { open, broken } = this.#parts
    try {
      return { kind: 'fetched', document: await open(answer.answer) }
    } catch (cause) {
      return { kind: 'failed', code: 'VISIT_BROKEN', detail: broken.take(answer.answer.url, cause), durationMs: 0 }
    }
  }
}
