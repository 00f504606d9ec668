// failures.jsonl: the URLs that were given up or skipped, a line for as long as the verdict stands.
//
// Taking verdicts back makes a new edition of the file without their lines:
//
//   state/failures-3.jsonl, synced ──▶ a batch names edition 3 and the URLs that wait again ──▶ renamed to failures.jsonl
//
// Whatever the crash, the edition that the last batch names is found, and has exactly the lines of what stands.

import { existsSync } from 'node:fs'
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { assert, diskFault } from '../base/index.ts'
import { moveDurably } from '../disk/index.ts'
import { type FailureRecord, JsonLines, readJsonLines } from '../store/index.ts'
import type { CommittedFile } from './books.ts'

export interface FailuresState {
  readonly length: number
  /** 0 is the first. */
  readonly edition: number
}

const NAME = 'failures.jsonl'
const EDITION_NAME = /^failures-\d+\.jsonl$/

export class FailuresFile implements CommittedFile {
  readonly #dir: string
  #lines: JsonLines<FailureRecord>
  #edition: number
  /** The edition that bears the file's own name. */
  #published: number

  private constructor(dir: string, lines: JsonLines<FailureRecord>, edition: number) {
    this.#dir = dir
    this.#lines = lines
    this.#edition = edition
    this.#published = edition
  }

  static async open(dir: string, state: FailuresState | null): Promise<FailuresFile> {
    const { length, edition } = state ?? { length: 0, edition: 0 }
    const path = join(dir, NAME)
    try {
      if (await exists(editionPath(dir, edition))) await moveDurably(editionPath(dir, edition), path)
      for (const name of await readdir(join(dir, 'state'))) {
        if (EDITION_NAME.test(name)) await rm(join(dir, 'state', name))
      }
    } catch (cause) {
      throw diskFault(`opening ${path}`, cause)
    }
    return new FailuresFile(dir, await JsonLines.open<FailureRecord>(path, { committedLength: length }), edition)
  }

  append(record: FailureRecord): void {
    this.#lines.append(record)
  }

  state(): FailuresState {
    return { length: this.#lines.length, edition: this.#edition }
  }

  sync(): Promise<void> {
    return this.#lines.sync()
  }

  async committed(state: unknown): Promise<void> {
    const { edition } = state as FailuresState
    if (edition === this.#published) return
    await moveDurably(editionPath(this.#dir, edition), join(this.#dir, NAME))
    this.#published = edition
  }

  /**
   * Takes back what `isWanted` says, `max` lines at most, and returns it. It counts with the next batch, which the
   * caller commits before it takes back more, and which must have the returned URLs among those that wait.
   */
  async takeBack(isWanted: (record: FailureRecord) => boolean, max: number): Promise<FailureRecord[]> {
    assert(this.#edition === this.#published, 'failures are taken back twice in one batch')
    await this.#lines.sync()
    const next = editionPath(this.#dir, this.#edition + 1)
    const lines = await JsonLines.open<FailureRecord>(next, { committedLength: 0 })
    const taken: FailureRecord[] = []
    for await (const record of readJsonLines<FailureRecord>(join(this.#dir, NAME))) {
      if (taken.length < max && isWanted(record)) taken.push(record)
      else lines.append(record)
      if (lines.needsDrain) await lines.drained()
    }
    if (taken.length === 0) {
      await lines.close()
      await rm(next, { force: true })
      return taken
    }
    await this.#lines.close()
    this.#lines = lines
    this.#edition++
    return taken
  }

  close(): Promise<void> {
    return this.#lines.close()
  }
}

/** The file that a state speaks of, by its name under `dir`: an edition may not have been given its own name yet. */
export function editionOf(dir: string, state: unknown): { readonly path: string; readonly length: number } {
  const { length, edition } = (state as FailuresState | undefined) ?? { length: 0, edition: 0 }
  return { path: existsSync(editionPath(dir, edition)) ? editionName(edition) : NAME, length }
}

/** What an edition is called before it is given the file's own name. */
export function editionName(edition: number): string {
  return `state/failures-${edition}.jsonl`
}

function editionPath(dir: string, edition: number): string {
  return join(dir, editionName(edition))
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null
}
