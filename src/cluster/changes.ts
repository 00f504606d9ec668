// What is other of a crawl than when it was set up: more seeds, other options. Changes are numbered records that are only ever created,
// like views: everybody reads the same ones in the same order and means the same crawl.
//
//   crawl ──▶ change.1 ──▶ change.2 ──▶ change.3          each share runs under one of them, and says which
//
// The end of a run is the end under a number: what comes after it is another meaning of the crawl, which has not ended (records.ts). So
// there is no moment in which a change could be too late.

import { Fault } from '../base/index.ts'
import { type Engine, ENTRY_BYTES_MAX } from '../engine/index.ts'
import { readDefinition } from './cluster-commands.ts'
import { type CrawlChange, type CrawlDefinition, decodeRecord, encodeRecord } from './records.ts'

export class Changes {
  readonly #all: CrawlChange[] = []

  /** False: it is known, or one before it is missing; nothing changed. */
  add(number: number, change: CrawlChange): boolean {
    if (number !== this.upTo + 1) return false
    this.#all.push(change)
    return true
  }

  /** The number of the last one; 0 where there is none. */
  get upTo(): number {
    return this.#all.length
  }

  get all(): readonly CrawlChange[] {
    return this.#all
  }

  /** All that is said of options by the last change of them after this number; null where none was. */
  settingsAfter(number: number): unknown {
    return this.#all.slice(number).findLast(({ settings }) => settings !== null)?.settings ?? null
  }

  /** Seeds that were added after this number, in order, each once. */
  seedsAfter(number: number): readonly string[] {
    return [...new Set(this.#all.slice(number).flatMap(({ seeds }) => seeds))]
  }

  /** Whether a share that runs under this number must be opened anew to run under the last. */
  needsOpening(number: number): boolean {
    return this.#all.slice(number).some(({ settings, isLive }) => settings !== null && !isLive)
  }
}

/** All that there are now. */
export async function readChanges(engine: Pick<Engine, 'records'>): Promise<Changes> {
  const changes = new Changes()
  for (const record of await engine.records.list('change')) {
    const heard = decodeRecord(record)
    if (heard?.kind === 'change') changes.add(heard.number, heard.change)
  }
  return changes
}

/** A crawl as it is meant now: as it was set up, with every change of it. */
export async function readCrawl(
  engine: Engine,
): Promise<{ readonly definition: CrawlDefinition; readonly changes: Changes }> {
  const setUp = await readDefinition(engine)
  const changes = await readChanges(engine)
  const definition = {
    ...setUp,
    settings: changes.settingsAfter(0) ?? setUp.settings,
    seeds: [...new Set([...setUp.seeds, ...changes.seedsAfter(0)])],
  }
  return { definition, changes }
}

export function changeRecord(number: number): string {
  return `change.${number}`
}

/**
 * Makes a change of what is said by then; null: there is nothing to change. Where somebody else was quicker `make` is asked again, with
 * what they changed since it was asked first: it may refuse. The answer is the number of the change, durable in the engine.
 */
export async function makeChange(
  engine: Pick<Engine, 'records'>,
  make: (now: Changes, since: readonly CrawlChange[]) => CrawlChange | null,
): Promise<number | null> {
  let first: number | null = null
  for (;;) {
    const now = await readChanges(engine)
    first ??= now.upTo
    const change = make(now, now.all.slice(first))
    if (change === null) return null
    const value = encodeRecord(change)
    if (value.length > ENTRY_BYTES_MAX) {
      throw new Fault('CLUSTER_REFUSED', `the change takes more than ${ENTRY_BYTES_MAX} bytes; make it smaller`)
    }
    const number = now.upTo + 1
    if ((await engine.records.create(changeRecord(number), value)) === 'created') return number
    // An answer that was lost: it may be our own that is there.
    const there = await engine.records.get(changeRecord(number))
    if (there !== null && Buffer.from(there).equals(Buffer.from(value))) return number
  }
}
