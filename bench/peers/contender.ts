// A crawler that takes part: how to start it at its best.

import type { Cost, Run } from './measured-run.ts'

export interface Task {
  readonly seedFile: string
  /** An empty folder to write into; everybody's is on the same file system. */
  readonly dir: string
  /** A certificate to trust, in PEM; null without https. */
  readonly authorityFile: string | null
}

export interface Contender {
  readonly name: string
  /** What there is of a page afterwards. */
  readonly keeps: string
  /** Null if it is not installed. */
  readonly version: string | null
  /** The slow ones once, the others several times, of which the best counts. */
  readonly isSlow: boolean
  /** How it is started, in words: the settings that matter. */
  readonly settings: string
  run(task: Task): Run
  /** How many pages it fetched, by its own account. */
  countPages(task: Task, cost: Cost): number
}
