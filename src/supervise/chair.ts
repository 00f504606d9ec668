// Whoever holds share 0 has the chair: decides the end of a crawl on several machines, and grants permits to add pages.
//
//            chair (the node of share 0)
//      asks all │ in rounds, answers of all shares together decide      (end-watch.ts, permit-office.ts: as on one machine)
//      ┌────────┼────────┐
//    desk     desk     desk          one of each node (share-desk.ts)
//    0  3     1  4     2  5          shares
//
// The end: two rounds in which every share has answered, in the same lives, all quiet, and nothing was said or heard between them.
// A former owner that does not know it answers as well, and knows nothing of what was given to the next one; so before the end is
// said the logs are read: whoever has answered must be who has begun last.
//
// `--max-pages` is exact, whoever dies, whatever is lost:
//
//   limit ≥ Σ over shares (pages when its life began + permits that life was granted − permits it gave up)
//
//   - Permits die with a life. What a life commits is in the log of its share, so the next one begins with it among its pages; and
//     once that one has begun, the former can commit nothing: its log is its lock.
//   - Permits count from the moment they are promised until they are known to be given up, or their life to be over: an order that
//     is lost is said again, and one that is late finds its total reached or its life gone. A node that is cut off with permits
//     in its hand may use them all: they stay counted until its share has begun elsewhere.
//   - A new chair grants nothing before it has heard of every share what it was granted, and each desk that answers refuses the
//     former chair from then on. That every share means every *owner* there is or will be: the chair reads all logs after it
//     has begun share 0 and takes no answer of an earlier epoch; who begins a share later reads the log of share 0 after that, and
//     refuses the former chair by itself. Of two who each first write and then read what the other wrote, one sees the other.
//   - A chair that dies leaves its promises with the desks, which tell its successor; promises that reached nobody are void.

import type { Clock, ClockMs, StopReason } from '../base/index.ts'
import { EndWatch } from './end-watch.ts'
import { PermitOffice } from './permit-office.ts'
import type { DeskAnswer, DeskOrder, DeskQuestion, ShareLife, ShareReport } from './share-desk.ts'

/** What a crawl may come to, as it is meant by a change of it. */
export interface ChairLimits {
  readonly change: number
  readonly maxPages: number | null
  readonly maxTimeMs: number | null
  readonly maxWaitMs: number
}

export interface ChairPlan {
  readonly shares: number
  /** The epoch in which this node has begun share 0. It has one chair, whatever becomes of the thread of that share. */
  readonly chair: number
  readonly limits: ChairLimits
  readonly clock: Clock
  /** Everybody who may hold a share, ourselves too. */
  readonly nodes: () => readonly string[]
  /** Rejects where no answer comes in its time. May ask twice. */
  readonly askNode: (node: string, question: DeskQuestion) => Promise<DeskAnswer>
  /** By share: the epoch that its log says was begun last, read now; 0 where none was. Rejects where that cannot be known. */
  readonly epochs: () => Promise<readonly number[]>
  /** The last change of the crawl that is there, read now. Rejects where that cannot be known. */
  readonly lastChange: () => Promise<number>
  /** Whether there may be work that no share knows of yet. Always false where nothing is said. */
  readonly expectsWork?: () => boolean
  /** Nobody is asked for anything: no end, not even by time, which stands still. Always false where nothing is said. */
  readonly isPaused?: () => boolean
  /** Told once. What follows from it is not the chair's. */
  readonly decided: (reason: StopReason, change: number) => void
}

export interface ChairFigures {
  rounds: number
  /** Rounds in which a share did not answer. */
  incomplete: number
  granted: number
  recalls: number
}

/** What is known of a share. */
interface Account extends ShareLife {
  readonly node: string
  /** Promised, altogether. */
  granted: number
  surrendered: number
  recall: boolean
  report: ShareReport
}

const ROUND_MS = 250
/** Where all looked quiet, or somebody waits for what was promised. */
const QUICK_ROUND_MS = 50

export class Chair {
  readonly figures: ChairFigures = { rounds: 0, incomplete: 0, granted: 0, recalls: 0 }
  readonly #plan: ChairPlan
  readonly #office: PermitOffice
  readonly #ends: EndWatch
  readonly #accounts: (Account | null)[]
  /** Epochs that were begun when this chair had begun; null until they are known. */
  #begun: readonly number[] | null = null
  #limits: ChairLimits
  /** The change with which the limit of pages became what it is: lives under an earlier one may have had more than we know. */
  #limitedSince: number
  #isOver = false
  /** It is over because it has said the end. */
  #hasDecided = false
  /** A round is under way. */
  #isAsking = false
  #stopTimer: () => void = () => {}

  constructor(plan: ChairPlan) {
    this.#plan = plan
    this.#limits = plan.limits
    this.#limitedSince = plan.limits.change
    this.#office = new PermitOffice(plan.limits.maxPages, plan.shares)
    this.#ends = new EndWatch(plan.limits.maxWaitMs)
    this.#accounts = Array.from({ length: plan.shares }, () => null)
    this.#nextRound(QUICK_ROUND_MS)
  }

  /** Another has the chair, the end was said, or it was stopped. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** The crawl is meant otherwise from now on: an end that was said before is not its end. */
  change(limits: ChairLimits): void {
    if (limits.maxPages !== this.#limits.maxPages) this.#limitedSince = limits.change
    this.#limits = limits
    this.#office.limitTo(limits.maxPages)
    this.#ends.waitAtMost(limits.maxWaitMs)
    this.#ends.forget()
    if (!this.#hasDecided) return
    this.#hasDecided = false
    this.#isOver = false
    // One that is under way ends with the next.
    if (!this.#isAsking) this.#nextRound(ROUND_MS)
  }

  stop(): void {
    this.#hasDecided = false
    this.#isOver = true
    this.#stopTimer()
  }

  #nextRound(ms: number): void {
    if (this.#isOver) return
    const { clock } = this.#plan
    this.#stopTimer = clock.callAt((clock.nowMs() + ms) as ClockMs, () => {
      this.#isAsking = true
      void this.#round()
        // The logs cannot be read now.
        .catch(() => ROUND_MS)
        .then((nextMs) => {
          this.#isAsking = false
          this.#nextRound(nextMs)
        })
    })
  }

  /** Asks all, and does what follows. Gives the time to the next one. */
  async #round(): Promise<number> {
    const { nodes, askNode, epochs, shares } = this.#plan
    this.#begun ??= await epochs()
    this.figures.rounds++
    const heard = new Set<number>()
    await Promise.all(
      nodes().map(async (node) => {
        const answer = await askNode(node, this.#questionOf(node)).catch(() => null)
        if (answer?.kind === 'refused') this.stop()
        for (const report of answer?.kind === 'shares' ? answer.shares : []) {
          if (this.#hear(node, report)) heard.add(report.share)
        }
      }),
    )
    if (this.#isOver) return 0
    if (heard.size < shares) {
      this.figures.incomplete++
      this.#grant()
      return this.#isTimeOver() ? this.#decide('max-time') : ROUND_MS
    }
    const reason = this.#isTimeOver() ? 'max-time' : await this.#reason()
    if (reason !== null) return this.#decide(reason)
    if (this.#isOver) return 0
    this.#grant()
    const accounts = this.#accounts.filter((one) => one !== null)
    const isNearEnd = this.#plan.isPaused?.() !== true && accounts.every(({ report }) => report.standing.isQuiet)
    const isQuick = accounts.some(isAwaited) || isNearEnd
    return isQuick ? QUICK_ROUND_MS : ROUND_MS
  }

  #questionOf(node: string): DeskQuestion {
    const orders: DeskOrder[] = []
    for (const account of this.#accounts) {
      if (account?.node !== node || !isAwaited(account)) continue
      const { share, epoch, life, granted, recall } = account
      orders.push({ share, epoch, life, granted, recall })
      if (recall) this.figures.recalls++
    }
    return { chair: this.#plan.chair, orders }
  }

  /** Whether it was said by an owner of now, as far as we know. */
  #hear(node: string, report: ShareReport): boolean {
    const { share, epoch, life, pages, granted, surrendered } = report
    const before = this.#accounts[share]
    if (before === undefined || epoch < (this.#begun?.[share] ?? 0)) return false
    if (before !== null && isEarlier(report, before)) return false
    if (before !== null && epoch === before.epoch && life === before.life) {
      // Less than we know: an answer that comes late.
      if (surrendered > before.surrendered) this.#office.surrendered(share, surrendered - before.surrendered)
      before.surrendered = Math.max(surrendered, before.surrendered)
      before.report = report
      before.recall = false
      return true
    }
    this.#office.opened(share, pages, granted - surrendered)
    this.#accounts[share] = { share, epoch, life, node, granted, surrendered, recall: false, report }
    this.#ends.forget()
    return true
  }

  #isTimeOver(): boolean {
    const { maxTimeMs } = this.#limits
    if (this.#plan.isPaused?.() === true) return false
    return maxTimeMs !== null && this.#accounts.some((one) => one !== null && one.report.ms >= maxTimeMs)
  }

  /** All have answered: is it the end? */
  async #reason(): Promise<StopReason | null> {
    const accounts = this.#accounts.filter((one) => one !== null)
    // What was quiet in a pause says nothing of what comes; nor does a share that has yet to take in what is said now.
    if (this.#plan.isPaused?.() === true || !accounts.every((one) => this.#isOfNow(one))) {
      this.#ends.forget()
      return null
    }
    const { change } = this.#limits
    const standings = accounts.map(({ report: { standing } }) => ({
      ...standing,
      permits: standing.permits ?? Infinity,
    }))
    const reason = this.#ends.round(standings, this.#office.left)
    if (reason === null || this.#plan.expectsWork?.() === true) return null
    const [begun, last] = await Promise.all([this.#plan.epochs(), this.#plan.lastChange()])
    if (begun[0] !== this.#plan.chair) this.stop()
    else if (this.#plan.isPaused?.() === true || last !== change || this.#limits.change !== change) return null
    else if (accounts.every(({ share, epoch }) => begun[share] === epoch)) return reason
    this.#ends.forget()
    return null
  }

  #isOfNow({ report }: Account): boolean {
    return report.change === this.#limits.change
  }

  #decide(reason: StopReason): number {
    if (!this.#isOver) {
      this.stop()
      this.#hasDecided = true
      this.#plan.decided(reason, this.#limits.change)
    }
    return 0
  }

  #grant(): void {
    if (this.#limits.maxPages === null) return
    // What one has that we have not heard of may be all there is.
    if (!this.#accounts.every((one) => one !== null && one.report.change >= this.#limitedSince)) return
    let isShort = false
    for (const account of this.#accounts) {
      if (account === null || !account.report.isShort || account.granted > account.report.granted) continue
      const pages = this.#office.want(account.share)
      account.granted += pages
      this.figures.granted += pages
      isShort ||= pages === 0
    }
    if (!isShort) return
    for (const account of this.#accounts) {
      if (account !== null) account.recall = (account.report.standing.permits ?? 0) > 0
    }
  }
}

/** Something is promised or asked for that its answer has not shown yet. */
function isAwaited({ granted, recall, report }: Account): boolean {
  return recall || granted > report.granted
}

function isEarlier(one: ShareLife, other: ShareLife): boolean {
  return one.epoch < other.epoch || (one.epoch === other.epoch && one.life < other.life)
}
