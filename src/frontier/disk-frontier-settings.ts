// What a frontier on disk is told when it is opened.

import type { FrontierSettings } from './frontier-of-hosts.ts'

/** Numbers that tests make small, so that everything happens with little. */
export interface DiskFrontierTuning {
  /** URLs at the head of a line that stay in memory, and are read at a time. */
  readonly headEntries: number
  /** URLs of a host in memory, below which the next are read. At least those of a turn. */
  readonly readAhead: number
  /** Fewer URLs at an end of a line go into the host's record. */
  readonly blockEntriesMin: number
  /** As many hosts stay at hand, however short memory is. */
  readonly hostsMin: number
  /** As many hosts may come to hand, however short memory is; no fewer than stay. */
  readonly hostsCalledMin: number
  /** So often something is added to a record before it is read and written anew. */
  readonly addendaMax: number
  /** As many URLs in memory are enough to make a code of. */
  readonly codeEntriesMin?: number
  /** How long a checkpoint is worked on before everybody else has a turn; negative: at every chance. */
  readonly stepMs?: number
}

export const TUNING: DiskFrontierTuning = {
  headEntries: 64,
  readAhead: 20,
  blockEntriesMin: 64,
  hostsMin: 64,
  hostsCalledMin: 64,
  addendaMax: 16,
}

export interface DiskFrontierSettings extends FrontierSettings {
  /** For hosts at hand and their URLs. */
  readonly memoryBytes: number
  /** Something may have become ready that nextReadyMs() did not know of; also called when a fault waits to be thrown. */
  readonly onReady?: () => void
  readonly tuning?: DiskFrontierTuning
}
