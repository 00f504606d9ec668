// The rules of lent turns, broken one by one: a simulation that does not notice would prove nothing.

import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import * as borrowedTurns from '../../src/exchange/borrowed-turns.ts'
import * as lentTurns from '../../src/exchange/lent-turns.ts'
import { type LendingRooms, type LendingWorld, type ModelMutation, SimulatedLending } from './simulated-lending.ts'

export const ROOMS: LendingRooms = { ...lentTurns, ...borrowedTurns }

interface Mutant {
  readonly name: string
  /** In the model of what surrounds the turns. */
  readonly model?: ModelMutation
  /** Or in the source of them. */
  readonly file?: 'lent-turns.ts' | 'borrowed-turns.ts'
  readonly from?: string
  readonly to?: string
  readonly world?: Partial<LendingWorld>
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'the owner does not wait a turn out',
    file: 'lent-turns.ts',
    from: 'const lostMs = overMs + Math.min(requestMs, UNHEARD_MS_MAX)',
    to: 'const lostMs = clock.nowMs() + 1_000',
  },
  {
    name: 'the owner does not wait for what a frozen agent had asked',
    file: 'lent-turns.ts',
    from: 'const lostMs = overMs + Math.min(requestMs, UNHEARD_MS_MAX)',
    to: 'const lostMs = overMs',
    world: { ownerIsSafe: true },
  },
  {
    name: 'a turn is counted from when it came',
    file: 'borrowed-turns.ts',
    from: 'const endMs = offer.sinceMs + forMs',
    to: 'const endMs = clock.nowMs() + forMs',
    world: { late: 0.12, ownerIsSafe: true },
  },
  {
    name: 'what is under way is not cut',
    file: 'borrowed-turns.ts',
    from: 'clock.callAt(endMs as ClockMs, () => cut.abort())',
    to: 'clock.callAt(endMs as ClockMs, () => {})',
    world: { hangs: true, loss: 0.2 },
  },
  {
    name: 'the wall clock is not looked at',
    file: 'borrowed-turns.ts',
    from: ' && Math.abs(apartMs) <= CLOCKS_APART_MS_MAX',
    to: '',
  },
  {
    name: 'an offer is used twice',
    file: 'borrowed-turns.ts',
    from: 'const offer = this.#offers.get(id)\n    this.#offers.delete(id)',
    to: 'const offer = this.#offers.get(id)',
    world: { late: 0.12, ownerIsSafe: true, restMs: 100, mishaps: 0 },
  },
  {
    name: 'a turn is looked at before connecting, and not in the moment of writing',
    model: { checksBeforeConnecting: true },
  },
  { name: 'the next life in the same place does not wait', model: { begunAtOnce: true } },
  { name: 'turns outlive the lease of their owner', model: { leaseIgnored: true }, world: { mishaps: 12 } },
  { name: 'a share moves while its turns are out', model: { movesUnsettled: true } },
]

/** Worlds in which much happens. */
export function busyWorld(seed: string, changes: Partial<LendingWorld> = {}): LendingWorld {
  const usual = {
    helpers: 1,
    urls: 250,
    restMs: 0,
    loss: 0.02,
    late: 0.02,
    mishaps: 60,
    ownerIsSafe: false,
    hangs: false,
  }
  return { ...usual, ...changes, seed }
}

/** In which world it was caught, from 1; null where it was not. */
export async function caughtAfter({ model, file, from, to, world }: Mutant, worlds: number): Promise<number | null> {
  const rooms = file === undefined ? ROOMS : { ...ROOMS, ...(await mutated(file, from ?? '', to ?? '')) }
  for (let i = 1; i <= worlds; i++) {
    const { violations } = await new SimulatedLending(busyWorld(`mutant ${i}`, world), rooms, model).run()
    if (violations.length > 0) return i
  }
  return null
}

/** The files import nothing but types, so a broken one needs no place of its own. */
async function mutated(file: string, from: string, to: string): Promise<Partial<LendingRooms>> {
  const source = readFileSync(new URL(`../../src/exchange/${file}`, import.meta.url), 'utf8')
  if (source.split(from).length !== 2) throw new Error(`${file} does not have '${from}' once`)
  const code = stripTypeScriptTypes(source.replace(from, () => to))
  return (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as Partial<LendingRooms>
}
