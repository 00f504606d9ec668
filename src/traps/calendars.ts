// Calendars that never end: next month, and the next.
//
// A date in a URL alone says nothing (/issues/2999/5 is a number), nor does a date far away (newspapers of 1890).
// What gives a calendar away is how it turns the year, in years that people live in: a page of 2026-12 led to 2027-01 of the
// same make, and one of 2027-12 to 2028-01. Digits in a row may be any number (/topic/202612), so of those most links must lead
// from month to month. From then on its far future is not asked for, nor its far past where its pages lead to
// other dates only.

import type { CanonicalUrl } from '../url/index.ts'
import { Recent } from './recent.ts'
import type { TrapsOptions } from './options.ts'

export interface DateInUrl {
  /** The URL with the date taken out. */
  readonly shape: string
  /** Months since year 0. */
  readonly month: number
  /** Digits in a row, nothing between year and month. */
  readonly isBare: boolean
}

/** /2026/5, /2026-05-13, ?month=2026-05, /20260513/ …, the year first. */
const YEAR_FIRST = /(?<![\d])(\d{4})(?:([-/._])(\d{1,2})(?:\2(\d{1,2}))?|(\d{2})(\d{2})?)(?![\d])/
const YEAR_NAME = /[?&](?:y|yr|year|jahr|annee|ano|anno)=(\d{4})(?=&|$)/i
const MONTH_NAME = /[?&](?:m|mo|mon|month|monat|mois|mes|mese)=(\d{1,2})(?=&|$)/i
const DAY_NAME = /[?&](?:d|day|tag|jour|dia|giorno)=\d{1,2}(?=&|$)/i

const DIGIT_0 = 48
const DIGIT_9 = 57
const YEAR_DIGITS = 4

/** Whether there are digits enough for a year behind the host. Most URLs have none, and no pattern is tried on them. */
export function mayHaveDate(url: CanonicalUrl): boolean {
  let digits = 0
  for (let at = url.indexOf('/', url.indexOf('://') + 3); at < url.length; at++) {
    const code = url.charCodeAt(at)
    if (code < DIGIT_0 || code > DIGIT_9) digits = 0
    else if (++digits === YEAR_DIGITS) return true
  }
  return false
}

/** The date in a URL, to the month; null where there is none. */
export function dateIn(url: CanonicalUrl): DateInUrl | null {
  if (!mayHaveDate(url)) return null
  const root = url.indexOf('/', url.indexOf('://') + 3)
  const text = url.slice(root)
  const found = YEAR_FIRST.exec(text)
  if (found !== null) {
    const month = Number(found[3] ?? found[5])
    const day = Number(found[4] ?? found[6] ?? 1)
    if (month >= 1 && month <= 12 && day >= 1 && day <= 31) {
      const shape = `${url.slice(0, root + found.index)}‹date›${text.slice(found.index + found[0].length)}`
      return { shape, month: Number(found[1]) * 12 + month - 1, isBare: found[3] === undefined }
    }
  }
  const year = YEAR_NAME.exec(text)
  const month = year === null ? null : MONTH_NAME.exec(text)
  if (year === null || month === null || Number(month[1]) < 1 || Number(month[1]) > 12) return null
  const shape = text.replace(YEAR_NAME, '').replace(MONTH_NAME, '').replace(DAY_NAME, '')
  const at = Number(year[1]) * 12 + Number(month[1]) - 1
  return { shape: `${url.slice(0, root)}${shape}‹date›`, month: at, isBare: false }
}

interface Calendar {
  /** Turns of the year, from one page to the next. */
  turns: number
  /** The year that was turned to last; each counts once in a row. */
  turnedTo: number
  /** Links from one date to another, and those of them that were neither to the next month nor to the same a year on. */
  moves: number
  jumps: number
  /** Pages in a row that led to nothing but other dates. */
  barren: number
}

/** So many barren pages in a row, and nobody expects the next to be another. */
const BARREN_MIN = 24

/** No calendar of ours turns to an earlier year first. */
const YEAR_MIN = 1_900

export type SavedCalendar = readonly [
  shape: string,
  turns: number,
  turnedTo: number,
  moves: number,
  jumps: number,
  barren: number,
]

export class Calendars {
  readonly #options: TrapsOptions
  readonly #calendars: Recent<string, Calendar>

  constructor(options: TrapsOptions) {
    this.#options = options
    this.#calendars = new Recent(options.placesKept)
  }

  /** Why the page of a date is not asked for, or null. */
  judge(url: CanonicalUrl, nowMs: number): string | null {
    const date = dateIn(url)
    if (date === null) return null
    const calendar = this.#calendars.get(date.shape)
    if (calendar === undefined || !this.#isKnown(calendar, date.isBare)) return null
    const { calendarAhead, calendarBehind } = this.#options
    const now = new Date(nowMs)
    const month = now.getUTCFullYear() * 12 + now.getUTCMonth()
    if (date.month > month + 12 * calendarAhead) return `a calendar, more than ${calendarAhead} years ahead`
    if (date.month < month - 12 * calendarBehind && calendar.barren >= BARREN_MIN) {
      return `a calendar, more than ${calendarBehind} years back, whose pages lead to other dates only`
    }
    return null
  }

  /** What a page of a date teaches. True when that makes it known as a calendar. */
  learn(
    url: CanonicalUrl,
    via: CanonicalUrl | null,
    leads: readonly { readonly url: CanonicalUrl }[],
    nowMs: number,
  ): boolean {
    if (this.#options.calendarTurns === 0) return false
    const date = dateIn(url)
    const from = date === null || via === null ? null : dateIn(via)
    if (date === null || from === null || from.shape !== date.shape) return false
    const calendar = this.#calendars.get(date.shape) ?? this.#calendars.set(date.shape, newCalendar())
    const wasKnown = this.#isKnown(calendar, date.isBare)
    const isBarren = leads.every((lead) => dateIn(lead.url)?.shape === date.shape)
    calendar.barren = isBarren ? calendar.barren + 1 : 0
    const months = Math.abs(date.month - from.month)
    calendar.moves++
    if (months > 1 && months !== 12) calendar.jumps++
    const year = Math.floor(date.month / 12)
    const isTurn = months === 1 && year !== Math.floor(from.month / 12) && year !== calendar.turnedTo
    const yearMax = new Date(nowMs).getUTCFullYear() + this.#options.calendarAhead + 1
    if (isTurn && year >= YEAR_MIN && year <= yearMax) {
      calendar.turns++
      calendar.turnedTo = year
    }
    return !wasKnown && this.#isKnown(calendar, date.isBare)
  }

  #isKnown({ turns, moves, jumps }: Calendar, isBare: boolean): boolean {
    return turns >= this.#options.calendarTurns && (!isBare || 2 * jumps <= moves)
  }

  save(): SavedCalendar[] {
    return [...this.#calendars].map(([shape, { turns, turnedTo, moves, jumps, barren }]) => [
      shape,
      turns,
      turnedTo,
      moves,
      jumps,
      barren,
    ])
  }

  restore([shape, turns, turnedTo, moves, jumps, barren]: SavedCalendar): void {
    this.#calendars.set(shape, { turns, turnedTo, moves, jumps, barren })
  }
}

function newCalendar(): Calendar {
  return { turns: 0, turnedTo: 0, moves: 0, jumps: 0, barren: 0 }
}
