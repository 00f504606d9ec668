// The thread of catalogues: answers what it is asked, and reads on in between, at a share of a core that is its limit.
//
//   asked ──▶ answered at once, between two slices
//   idle  ──▶ a slice of some milliseconds for one catalogue after another, each followed by a rest that makes it all, answers included,
//             `cpuShare` of the time

import { parentPort, workerData } from 'node:worker_threads'
import { assert, systemClock } from '../base/index.ts'
import { KeptCatalogue } from './kept-catalogue.ts'
import { faultText, type FromCatalogue, type ToCatalogue } from './messages.ts'

/** Short, so that who asks meanwhile waits little. */
const SLICE_MS = 10
/** Between two looks when all is read. */
const IDLE_MS = 1_000
/** A long piece of work is followed by a long rest, up to this. */
const REST_MS_MAX = 15_000

const port = parentPort
assert(port !== null, 'catalogues live in a thread of their own')
const { cpuShare } = workerData as { cpuShare: number }
const kept = new Map<string, Promise<KeptCatalogue>>()
/** Whose turn it is, and how many in a row had nothing to do. */
let turn = 0
let idleTurns = 0
let timer: NodeJS.Timeout | null = null
/** Of this thread, when it last began to rest: what it took since then is rested for. */
let cpuBefore = process.threadCpuUsage()

function opened(dir: string): Promise<KeptCatalogue> {
  const known = kept.get(dir)
  if (known !== undefined) return known
  const opening = KeptCatalogue.open(dir, systemClock)
  kept.set(dir, opening)
  opening.catch(() => {
    // The next who asks may have more luck.
    if (kept.get(dir) === opening) kept.delete(dir)
  })
  idleTurns = 0
  timer ??= setTimeout(() => void readOn(), 0)
  return opening
}

async function readOn(): Promise<void> {
  const all = [...kept.values()]
  const one = await all[turn % Math.max(1, all.length)]?.catch(() => null)
  const isDone = one == null || (await one.readOn(SLICE_MS))
  // Who holds lines in memory goes on until they are written: of many catalogues one fills its room, not all.
  if (isDone || one.heldLines === 0) turn++
  idleTurns = isDone ? idleTurns + 1 : 0
  const { user, system } = process.threadCpuUsage(cpuBefore)
  cpuBefore = process.threadCpuUsage()
  const dueMs = cpuShare >= 1 ? 0 : Math.min(REST_MS_MAX, ((user + system) / 1_000) * (1 / cpuShare - 1))
  timer =
    kept.size === 0 ? null : setTimeout(() => void readOn(), idleTurns < kept.size ? dueMs : Math.max(IDLE_MS, dueMs))
}

async function answer(message: ToCatalogue): Promise<Pick<FromCatalogue, 'readShare'> & { readonly value: unknown }> {
  const { dir } = message
  if (message.ask === 'close' && !kept.has(dir)) return { value: null, readShare: 0 }
  const catalogue = await opened(dir)
  if (message.ask === 'close') kept.delete(dir)
  return { value: await catalogue.answer(message), readShare: catalogue.readShare }
}

/** The last catalogue was closed: the thread ends by itself. */
function endIfEmpty(): void {
  if (kept.size > 0) return
  if (timer !== null) clearTimeout(timer)
  port?.close()
}

port.on('message', (message: ToCatalogue) => {
  const { number } = message
  void answer(message)
    .then(
      (found): FromCatalogue => ({ number, ...found }),
      (cause: unknown): FromCatalogue => ({ number, readShare: 0, fault: faultText(cause) }),
    )
    .then((told) => {
      port.postMessage(told)
      if (message.ask === 'close') endIfEmpty()
    })
})
