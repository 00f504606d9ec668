// state/changes.jsonl: who changed what of a crawl, and when. A change is on disk before it takes effect: what is in force is recorded,
// whenever the machine dies; what is recorded last may not have come into force.

import { join } from 'node:path'
import type { z } from 'zod'
import type { Clock } from '../base/index.ts'
import type { changeSchema } from './api.ts'
import { LineLog, type LogPage, readLog } from './line-log.ts'

export type Change = z.infer<typeof changeSchema>

const CHANGES_MAX = 100_000

export class ChangeLog {
  readonly #log: LineLog<Change>
  readonly #clock: Clock

  private constructor(log: LineLog<Change>, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  static async open(dir: string, clock: Clock): Promise<ChangeLog> {
    return new ChangeLog(await LineLog.open(changesPath(dir), CHANGES_MAX), clock)
  }

  /** Resolves when it is durable; fails where it cannot be written, and then the change must not be made. */
  async record(who: string, what: string, detail: Change['detail']): Promise<void> {
    const at = new Date(this.#clock.wallMs()).toISOString()
    await this.#log.append((number) => ({ number, at, who, what, detail }), true).written
  }

  close(): Promise<void> {
    return this.#log.close()
  }
}

function changesPath(dir: string): string {
  return join(dir, 'state/changes.jsonl')
}

/** Who changed what, the newest first. */
export function readChanges(dir: string, after: string | undefined, limit: number): Promise<LogPage<Change>> {
  return readLog<Change>(changesPath(dir), after, limit)
}
