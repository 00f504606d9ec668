// What happened at a door, all of it, and what follows for the next claim.

import type { IpGateSettings } from './ip-gate.ts'

export interface HistoricClaim {
  readonly startMs: number
}

interface Record {
  readonly claim: HistoricClaim
  endMs: number | null
  wasAsked: boolean
}

export class DoorHistory {
  readonly #settings: IpGateSettings
  readonly #records: Record[] = []

  constructor(settings: IpGateSettings) {
    this.#settings = settings
  }

  /** Claims granted and not given back. */
  get out(): HistoricClaim[] {
    return this.#records.filter((record) => record.endMs === null).map((record) => record.claim)
  }

  /** Every start and every end calls for a rest, but those of claims that asked nothing. */
  get restUntilMs(): number {
    const counted = this.#records.filter((record) => record.endMs === null || record.wasAsked)
    const momentsMs = counted.map((record) => Math.max(record.claim.startMs, record.endMs ?? -Infinity))
    return Math.max(-Infinity, ...momentsMs) + this.#settings.ipDelayMs
  }

  grant(claim: HistoricClaim): void {
    this.#records.push({ claim, endMs: null, wasAsked: false })
  }

  release(claim: HistoricClaim, nowMs: number, wasAsked: boolean): void {
    const record = this.#records.find((one) => one.claim === claim)
    if (record === undefined) throw new Error('what was never granted cannot end')
    record.endMs = nowMs
    record.wasAsked = wasAsked
  }
}
