// Faults on purpose: named places in the code at which an experiment may break it, to see that what is above mends it.
//
//   plan.faults ──▶ visitor, settler, books …  faults.hit('visitor')      nothing, or throws
//                   agent's thread             faults.isDue('agent-hang') false, or true: whoever asks does the breaking
//
// Without an experiment NO_FAULTS is handed down: a call of an empty function.

import { Fault } from './fault.ts'

export const FAULT_POINTS = {
  visit: 'a visit throws before a page is asked for',
  visitor: 'a visit throws when the answer is there and nothing is settled',
  stage: 'a stage throws while it holds the claim of a content, its record written',
  books: 'a batch cannot be committed',
  'agent-opening': 'the thread of an agent throws while it opens its share',
  'agent-throw': 'the thread of an agent throws outside of any promise',
  'agent-hang': 'the thread of an agent spins for ever',
  'agent-block': 'the thread of an agent never comes back from a call into the system',
  'agent-memory': 'the thread of an agent fills its memory by and by',
  'agent-burst': 'the thread of an agent fills its memory at once',
  'agent-closing': 'the thread of an agent throws while it closes its files',
  node: 'the main thread throws outside of any promise',
} as const
export type FaultPoint = keyof typeof FAULT_POINTS
export const FAULT_POINT_NAMES = Object.keys(FAULT_POINTS) as FaultPoint[]

export interface FaultPoints {
  /** Throws where a fault is due. */
  hit(point: FaultPoint): void
  /** Whether a fault is due. */
  isDue(point: FaultPoint): boolean
}

export const NO_FAULTS: FaultPoints = { hit: () => {}, isDue: () => false }

/** Which faults strike, as plain data: it crosses threads. */
export interface FaultPlan {
  readonly seed: string
  readonly rates: Readonly<Partial<Record<FaultPoint, FaultRate>>>
}

export interface FaultRate {
  /** How probable it is, each time the point is passed. */
  readonly rate: number
  /** All threads together; null without end. */
  readonly most: number | null
}

/** Reads `seed:7,visitor:0.01,agent-throw:0.001:20`: a point, how probable, and how often at most. Seeds add up. */
export function parseFaultPlan(text: string): FaultPlan {
  let seed = ''
  const rates: Partial<Record<FaultPoint, FaultRate>> = {}
  for (const item of text.split(',')) {
    const [name = '', value = '', most] = item.trim().split(':')
    if (name === 'seed' && value !== '') {
      seed += `${value};`
      continue
    }
    const rate = Number(value)
    const isMostGood = most === undefined || /^\d+$/.test(most)
    if (!Object.hasOwn(FAULT_POINTS, name) || value === '' || !(rate >= 0 && rate <= 1) || !isMostGood) {
      throw new Fault(
        'CONFIG_INVALID',
        `PORTOLAN_FAULTS: '${item.trim()}' is not POINT:PROBABILITY or POINT:PROBABILITY:MOST; the points are ${FAULT_POINT_NAMES.join(', ')}`,
      )
    }
    rates[name as FaultPoint] = { rate, most: most === undefined ? null : Number(most) }
  }
  return { seed, rates }
}
