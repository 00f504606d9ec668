// When a host may be asked at all: an off-peak window, as the clock on the wall of a time zone shows it.
//
//    hours 22:00-06:00, days fri        Fri 22:00 ▐█████████▌ Sat 06:00     the day is the one on which the window opens
//    hours 09:00-17:00                  every day 09:00 ▐████▌ 17:00
//
// Open is what the clock says: a host is open at a moment if the local time of that moment lies in the window. Nothing else is
// said about summer time: an hour that comes twice is open twice, one that is left out is not there. The moment at which it opens next
// is found by going from one turn of the clock to the next; `Intl` knows those.

const MINUTE_MS = 60_000
export const DAY_MINUTES = 1_440
export const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
/** A window opens within a week, or a little later where the clock is turned. */
const STEPS_MAX = 24

/** Minutes of the day from which and up to which, not including. From 22:00 to 06:00 is over midnight. */
export interface HoursSpec {
  readonly from: number
  readonly to: number
}

/** What the clock of a zone shows. */
interface Local {
  readonly minute: number
  readonly day: number
  readonly offsetMs: number
}

export class Hours {
  readonly #from: number
  readonly #to: number
  readonly #days: ReadonlySet<number>
  readonly #zone: string
  readonly #format: Intl.DateTimeFormat
  /** The last answer, which holds until the minute is over, or until it opens. */
  #sinceMs = 0
  #untilMs = 0
  #isOpen = false

  constructor({ from, to }: HoursSpec, days: readonly (typeof DAYS)[number][] = DAYS, zone = 'UTC') {
    this.#from = from
    this.#to = to
    this.#days = new Set(days.map((day) => DAYS.indexOf(day)))
    this.#zone = zone
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
  }

  /** When it may be asked: `wallMs` itself while it is open, else the moment it opens. By the date, not the monotonic clock. */
  opensAtMs(wallMs: number): number {
    if (wallMs < this.#sinceMs || wallMs >= this.#untilMs) this.#look(wallMs)
    return this.#isOpen ? wallMs : this.#untilMs
  }

  /** `22:00–06:00 Europe/Berlin`, with the days if not all. */
  toString(): string {
    const days = this.#days.size === DAYS.length ? '' : ` ${DAYS.filter((_, day) => this.#days.has(day)).join(', ')}`
    return `${clockTime(this.#from)}–${clockTime(this.#to)}${days} ${this.#zone}`
  }

  #look(wallMs: number): void {
    const minuteMs = Math.floor(wallMs / MINUTE_MS) * MINUTE_MS
    this.#isOpen = this.#isOpenAt(this.#localOf(minuteMs))
    this.#sinceMs = minuteMs
    this.#untilMs = this.#isOpen ? minuteMs + MINUTE_MS : this.#nextOpening(minuteMs)
  }

  #isOpenAt({ minute, day }: Local): boolean {
    const { from, to } = { from: this.#from, to: this.#to }
    if (from < to) return minute >= from && minute < to && this.#days.has(day)
    return (minute >= from && this.#days.has(day)) || (minute < to && this.#days.has((day + 6) % 7))
  }

  /** It opens when the clock comes to `from` on one of its days, or where it is turned. */
  #nextOpening(closedMs: number): number {
    let atMs = closedMs
    for (let step = 0; step < STEPS_MAX; step++) {
      const local = this.#localOf(atMs)
      const ahead = (this.#from - local.minute + DAY_MINUTES) % DAY_MINUTES || DAY_MINUTES
      const nextMs = atMs + ahead * MINUTE_MS
      const isTurned = this.#localOf(nextMs).offsetMs !== local.offsetMs
      atMs = isTurned ? this.#turnOfClock(atMs, nextMs) : nextMs
      if (this.#isOpenAt(this.#localOf(atMs))) return atMs
    }
    return atMs
  }

  /** The first minute of the new offset. */
  #turnOfClock(beforeMs: number, afterMs: number): number {
    const { offsetMs } = this.#localOf(beforeMs)
    let [low, high] = [beforeMs / MINUTE_MS, afterMs / MINUTE_MS]
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2)
      if (this.#localOf(middle * MINUTE_MS).offsetMs === offsetMs) low = middle
      else high = middle
    }
    return high * MINUTE_MS
  }

  #localOf(wallMs: number): Local {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
    for (const { type, value } of this.#format.formatToParts(wallMs)) parts[type] = Number(value)
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts
    const localMs = Date.UTC(year, month - 1, day, hour, minute, second)
    return { minute: hour * 60 + minute, day: new Date(localMs).getUTCDay(), offsetMs: localMs - wallMs }
  }
}

function clockTime(minute: number): string {
  return `${String(Math.floor(minute / 60)).padStart(2, '0')}:${String(minute % 60).padStart(2, '0')}`
}
