// Work in steps goes on as it is paced, waits for its syncs, and ends when it is told to, whoever waits for it.

import { expect, test } from 'vitest'
import { PacedJob, type Steps, type Syncable } from './paced-job.ts'

/** A file whose sync ends when the test says so. */
class File implements Syncable {
  #settle: { resolve: () => void; reject: (cause: Error) => void } | null = null
  readonly #log: string[]

  constructor(log: string[]) {
    this.#log = log
  }

  sync(): Promise<void> {
    this.#log.push('sync begun')
    return new Promise((resolve, reject) => (this.#settle = { resolve, reject }))
  }

  syncNow(): void {
    this.#log.push('synced at once')
  }

  async end(cause?: Error): Promise<void> {
    if (cause === undefined) this.#settle!.resolve()
    else this.#settle!.reject(cause)
    await new Promise(setImmediate)
  }
}

function start(pace: number, stepKeys = 10): { job: PacedJob; log: string[]; file: File } {
  const log: string[] = []
  const file = new File(log)
  function* steps(): Steps {
    try {
      for (let i = 1; i <= 3; i++) {
        log.push(`step ${i}`)
        yield stepKeys
      }
      yield file
      log.push('named')
    } finally {
      log.push('ended')
    }
  }
  return { job: new PacedJob(steps(), pace, (cause) => void log.push(`fault: ${(cause as Error).message}`)), log, file }
}

test('as much is done as the other work allows', () => {
  const { job, log } = start(2)
  job.work(1)
  expect(log).toEqual(['step 1'])
  job.work(4)
  expect(log).toEqual(['step 1'])
  job.work(1)
  expect(log).toEqual(['step 1', 'step 2'])
})

test('a sync goes on beside, and what follows it is done when it ends', async () => {
  const { job, log, file } = start(100)
  job.work(1)
  job.work(1_000)
  expect(log).toEqual(['step 1', 'step 2', 'step 3', 'sync begun'])
  await file.end()
  expect(log.slice(4)).toEqual(['named', 'ended'])
  job.work(1_000)
  await job.finish()
  expect(log).toHaveLength(6)
})

test('who waits for the end gives control away between long steps', async () => {
  const { job, log, file } = start(1, 2 ** 16)
  const finished = job.finish()
  expect(log).toEqual(['step 1'])
  while (!log.includes('sync begun')) await new Promise(setImmediate)
  await file.end()
  await finished
  expect(log.slice(3)).toEqual(['sync begun', 'named', 'ended'])
})

test.for([undefined, new Error('closed meanwhile')])(
  'who cannot wait syncs at once, and the sync that was under way changes nothing (%s)',
  async (cause) => {
    const { job, log, file } = start(100)
    job.work(1)
    job.finishNow()
    const done = ['step 1', 'step 2', 'step 3', 'sync begun', 'synced at once', 'named', 'ended']
    expect(log).toEqual(done)
    await file.end(cause)
    await job.finish()
    expect(log).toEqual(done)
  },
)

test('a sync that fails is told once, and the job goes no further', async () => {
  const { job, log, file } = start(100)
  job.work(1)
  const finished = job.finish()
  await file.end(new Error('the disk is gone'))
  await finished
  job.work(1_000)
  expect(log.slice(3)).toEqual(['sync begun', 'fault: the disk is gone'])
})

test('a job that is abandoned waits for its sync and cleans up, but goes no further', async () => {
  const { job, log, file } = start(100)
  job.work(1)
  const abandoned = job.abandon()
  expect(log).not.toContain('ended')
  await file.end()
  await abandoned
  expect(log.slice(4)).toEqual(['ended'])
  job.work(1_000)
  await job.finish()
  expect(log).toHaveLength(5)
})
