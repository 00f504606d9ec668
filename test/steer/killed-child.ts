// A process that crawls, changes something, and is killed at a chosen moment of that. Started by killed.test.ts:
//
//   node killed-child.ts DIR MOMENT SEED OTHER_SEED HOST

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCrawl } from '../../src/cli/run-crawl.ts'
import { RunningCrawl } from '../../src/control/running-crawl.ts'
import { joined, QUICK, requestOf } from './request.ts'

const [, , dir = '', moment = '', seed = '', other = '', host = ''] = process.argv

function die(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** Looked at in every turn of the event loop. */
function dieWhen(isSo: () => boolean): void {
  if (isSo()) return die()
  setImmediate(() => dieWhen(isSo))
}

const request = requestOf(dir, [seed], joined(QUICK, { agent: { agents: 2, maxRate: 40 } }))
await runCrawl(request, (steered) => {
  const record = steered.record.bind(steered)
  Object.assign(steered, {
    record: async (...said: Parameters<typeof record>) => {
      await record(...said)
      if (moment === 'recorded') die()
    },
  })
  const crawl = new RunningCrawl(steered)
  const change = async (): Promise<void> => {
    while (steered.job !== null && steered.job.figures.pages < 5)
      await new Promise((resolve) => setTimeout(resolve, 10))
    if (moment === 'pending') {
      dieWhen(() => existsSync(join(dir, 'state/pending-seeds.json')))
      await crawl.addSeeds({ seeds: [other] }, { who: 'test' })
      return
    }
    if (moment === 'stored') dieWhen(() => readFileSync(join(dir, 'state/settings.json'), 'utf8').includes('block'))
    if (moment === 'reopening') dieWhen(() => steered.job === null)
    await crawl.set({ options: { url: { block: [host] } } }, { who: 'test' })
  }
  void change()
})
