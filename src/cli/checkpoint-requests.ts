// A checkpoint asked for by another process than the one that crawls. They meet in files of the state directory:
//
//   asks     state/checkpoint-request.json       made whole under another name, then linked: one at a time
//   crawls   sees it, takes it away, copies
//   answers  state/checkpoint-answer-<id>.json    written atomically; whoever asked removes it
//
// As long as the request is there nobody has begun. A request that is left behind by whoever asked is answered or, by the
// next run, thrown away; an answer nobody fetches is thrown away by the next run too.

import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { CheckpointFigures } from '../agent/index.ts'
import { diskFault, Fault, type FaultCode, FAULTS, systemClock } from '../base/index.ts'
import { whoHolds, writeAtomically } from '../disk/index.ts'

interface Request {
  readonly id: string
  readonly to: string
}

interface Answer {
  readonly figures: CheckpointFigures | null
  readonly fault: { readonly code: FaultCode; readonly message: string } | null
}

const LOOK_EVERY_MS = 500
const POLL_MS = 100
const ANSWER_WITHIN_MS = 60_000
const OURS = /^checkpoint-(?:request|answer)/

function requestPath(dir: string): string {
  return join(dir, 'state/checkpoint-request.json')
}

function answerPath(dir: string, id: string): string {
  return join(dir, `state/checkpoint-answer-${id}.json`)
}

/** The side of the crawl that runs: looks for a request twice a second, which costs one failing call of the system. */
export class CheckpointDesk {
  readonly #dir: string
  readonly #checkpoint: (to: string) => Promise<CheckpointFigures>
  readonly #onFault: (fault: unknown) => void
  #timer: NodeJS.Timeout | null = null
  #work: Promise<void> | null = null

  constructor(
    dir: string,
    checkpoint: (to: string) => Promise<CheckpointFigures>,
    /** Hears of requests that could not be read or answered; the crawl goes on. */
    onFault: (fault: unknown) => void,
  ) {
    this.#dir = dir
    this.#checkpoint = checkpoint
    this.#onFault = onFault
  }

  /** What an earlier run left unanswered is nobody's wish any more; what came while this one was opened anew is. */
  async begin(isOpenedAnew = false): Promise<void> {
    for (const name of isOpenedAnew ? [] : await readdir(join(this.#dir, 'state'))) {
      if (OURS.test(name)) await rm(join(this.#dir, 'state', name), { force: true })
    }
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS)
  }

  /** Looks now, unless it is busy. */
  look(): void {
    this.#work ??= this.#serve()
      .catch((fault: unknown) => this.#onFault(fault))
      .finally(() => {
        this.#work = null
      })
  }

  /** A copy that was begun is finished first. */
  async end(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    await this.#work
  }

  async #serve(): Promise<void> {
    const path = requestPath(this.#dir)
    const text = await readIfThere(path)
    if (text === null) return
    await rm(path, { force: true })
    const { id, to } = JSON.parse(text) as Request
    let answer: Answer
    try {
      answer = { figures: await this.#checkpoint(to), fault: null }
    } catch (cause) {
      const fault = diskFault(`copying to ${to}`, cause)
      answer = { figures: null, fault: { code: fault.code, message: fault.message } }
    }
    await writeAtomically(answerPath(this.#dir, id), `${JSON.stringify(answer)}\n`)
  }
}

/**
 * The other side: asks the process that has the directory, and waits for as long as it lives. Null when it ended
 * before it began; then the directory is free.
 */
export async function askForCheckpoint(
  dir: string,
  to: string,
  answerWithinMs = ANSWER_WITHIN_MS,
): Promise<CheckpointFigures | null> {
  const id = randomUUID()
  await putRequest(dir, { id, to })
  const askedMs = systemClock.nowMs()
  try {
    for (;;) {
      // In this order: an answer that came between the two is seen.
      const holder = await whoHolds(join(dir, 'state'))
      const text = await readIfThere(answerPath(dir, id))
      if (text !== null) return figuresOf(JSON.parse(text) as Answer)
      const isWaiting = await isAsking(dir, id)
      if (holder === null) {
        if (isWaiting) return null
        throw new Fault('DISK_FAILED', `the process that crawls in ${dir} ended while it made the copy; ask again`)
      }
      if (isWaiting && systemClock.nowMs() - askedMs > answerWithinMs) {
        throw new Fault(
          'LEDGER_LOCKED',
          `process ${holder.pid} works in ${dir} and did not answer within ${answerWithinMs / 1_000} s: ` +
            'it is no crawl, or it hangs. Stop it, and ask again',
        )
      }
      await sleep(POLL_MS)
    }
  } finally {
    await withdraw(dir, id)
    await rm(answerPath(dir, id), { force: true })
  }
}

function figuresOf({ figures, fault }: Answer): CheckpointFigures {
  if (figures !== null) return figures
  const code = fault !== null && fault.code in FAULTS ? fault.code : 'DISK_FAILED'
  throw new Fault(code, fault?.message ?? 'the copy could not be made')
}

async function putRequest(dir: string, request: Request): Promise<void> {
  const path = requestPath(dir)
  const whole = join(dir, `state/checkpoint-request-${request.id}.json`)
  try {
    await writeAtomically(whole, `${JSON.stringify(request)}\n`)
    await link(whole, path)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw diskFault(`asking for a copy of ${dir}`, cause)
    throw new Fault(
      'LEDGER_LOCKED',
      `somebody else asks for a checkpoint of ${dir} just now; ask again when it is made`,
    )
  } finally {
    await rm(whole, { force: true })
  }
}

/** Our own request only: another may stand there by now. */
async function withdraw(dir: string, id: string): Promise<void> {
  if (await isAsking(dir, id)) await rm(requestPath(dir), { force: true })
}

async function isAsking(dir: string, id: string): Promise<boolean> {
  const text = await readIfThere(requestPath(dir))
  return text !== null && (JSON.parse(text) as Request).id === id
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw diskFault(`reading ${path}`, cause)
  }
}
