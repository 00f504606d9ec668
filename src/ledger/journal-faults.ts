// What is wrong with a journal, in words a person can act on: what, where, what now.

import { Fault } from '../base/index.ts'

/** A complaint about one file of the journal. */
export interface Complaint {
  readonly code: 'LEDGER_CORRUPT' | 'LEDGER_VERSION'
  /** The byte from which on the file cannot be used. */
  readonly at: number
  readonly what: string
}

export function faultOf(path: string, complaint: Complaint): Fault {
  const { code, at, what } = complaint
  if (code === 'LEDGER_VERSION') return new Fault(code, what)
  return new Fault(code, `${path}: damaged at byte ${at}: ${what}. Nothing was changed; ${WHAT_NOW}`)
}

const WHAT_NOW = 'restore the directory from a copy, or see what `portolan repair` can save'

/** A history that would have to begin before the journal does, or after its end, is not handed out. */
export function refuseHole(journal: string, after: number, first: number, last: number): void {
  if (after + 1 < first) {
    throw new Fault(
      'LEDGER_CORRUPT',
      `${journal} begins with batch ${first}, but the state on disk needs it from batch ${after + 1} on: they are not of the same moment, or a file of the journal is gone; ${WHAT_NOW}`,
    )
  }
  if (after > last) {
    throw new Fault(
      'LEDGER_CORRUPT',
      `${journal} ends with batch ${last}, but the state on disk already holds batch ${after}: the journal has lost its end; ${WHAT_NOW}`,
    )
  }
}
