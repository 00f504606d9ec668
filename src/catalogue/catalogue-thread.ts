// The thread of a catalogue: answers what it is asked, and reads on in between, at a share of a core that is its limit.
//
//   asked ──▶ answered at once, between two slices
//   idle  ──▶ slice of some milliseconds, then a rest that makes it `cpuShare` of the time

import { parentPort, workerData } from 'node:worker_threads'
import { assert, systemClock } from '../base/index.ts'
import { Catalogue } from './catalogue.ts'
import { faultText, type FromCatalogue, type ToCatalogue } from './messages.ts'
import { LinkSources } from './link-sources.ts'

/** Short, so that who asks meanwhile waits little. */
const SLICE_MS = 10
/** Between two looks when all is read. */
const IDLE_MS = 1_000
/** A long piece of work is followed by a long rest, up to this. */
const REST_MS_MAX = 15_000
/** After trouble: a full disk, a file that cannot be read. */
const TROUBLE_MS = 30_000
/** What is left may be read before an answer is given, so that a small crawl is always seen whole: for so long, */
const CATCH_UP_MS = 60
/** if it is no more than this, */
const CATCH_UP_BYTES = 2 * 2 ** 20
/** so often. */
const CATCH_UP_EVERY_MS = 1_000
/** A question about links waits so long for them. */
const LINKS_MS = 120

const port = parentPort
assert(port !== null, 'a catalogue lives in a thread of its own')
const { dir, cpuShare } = workerData as { dir: string; cpuShare: number }
const clock = systemClock
const catalogue = await Catalogue.open({ dir, clock })
const links = new LinkSources(dir, clock)
let isClosing = false
/** One slice at a time, whoever wants it. */
let slices: Promise<unknown> = Promise.resolve()
let caughtUpMs = -Infinity
let timer: NodeJS.Timeout | null = null

function slice(ms: number, isAwaited: boolean): Promise<boolean> {
  const next = slices.then(() => (isClosing ? true : catalogue.advance(ms, isAwaited)))
  slices = next.catch(() => {})
  return next
}

function rest(ms: number): void {
  if (isClosing) return
  timer = setTimeout(() => void readOn(), ms)
}

async function readOn(): Promise<void> {
  timer = null
  const before = process.threadCpuUsage()
  try {
    const isDone = await slice(SLICE_MS, false)
    const { user, system } = process.threadCpuUsage(before)
    const dueMs = cpuShare >= 1 ? 0 : Math.min(REST_MS_MAX, ((user + system) / 1_000) * (1 / cpuShare - 1))
    rest(isDone ? Math.max(IDLE_MS, dueMs) : dueMs)
  } catch {
    // Told to whoever asks; alone it only tries again.
    rest(TROUBLE_MS)
  }
}

async function catchUp(): Promise<void> {
  if (clock.nowMs() - caughtUpMs < CATCH_UP_EVERY_MS || catalogue.behindBytes > CATCH_UP_BYTES) return
  await slice(CATCH_UP_MS, true)
  caughtUpMs = clock.nowMs()
}

async function answer(message: ToCatalogue): Promise<unknown> {
  switch (message.ask) {
    case 'advance':
      await slice(message.ms, true)
      return catalogue.readShare
    case 'close':
      isClosing = true
      if (timer !== null) clearTimeout(timer)
      await slices
      await links.close()
      catalogue.close()
      return null
    case 'pages':
      await catchUp()
      return catalogue.pages(message.query)
    case 'failures':
      await catchUp()
      return catalogue.failures(message.query)
    case 'broken': {
      await catchUp()
      const found = catalogue.broken(message.query)
      return { ...found, items: await links.addTo(found.items, LINKS_MS) }
    }
    case 'hosts':
      await catchUp()
      return catalogue.hosts(message.query)
    case 'host':
      await catchUp()
      return catalogue.host(message.host)
    case 'statistics':
      await catchUp()
      return catalogue.statistics()
  }
}

port.on('message', (message: ToCatalogue) => {
  void answer(message).then(
    (value) => {
      port.postMessage({ number: message.number, readShare: catalogue.readShare, value } satisfies FromCatalogue)
      if (message.ask === 'close') port.close()
    },
    (cause: unknown) =>
      port.postMessage({
        number: message.number,
        readShare: catalogue.readShare,
        fault: faultText(cause),
      } satisfies FromCatalogue),
  )
})
rest(0)
