// Two agents in one thread, joined by wires that lose some of what is said: what they had for each other stays in their journals.

import { join } from 'node:path'
import { Crawl } from '../../src/agent/index.ts'
import { Random, systemClock } from '../../src/base/index.ts'
import type { FlagValue } from '../../src/config/index.ts'
import type { Wire } from '../../src/exchange/index.ts'
import { SharedIpGate } from '../../src/frontier/index.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'
import { writeLayout } from '../../src/view/index.ts'
import { newIdentity, settingsOf } from '../crawl/run-crawl.ts'

type Message = Parameters<Wire['send']>[0]

/** Crawls until both ask nobody any more, or have so many pages; `isLost` says what never arrives. */
export async function crawlLossily(
  dir: string,
  seeds: readonly string[],
  flags: Readonly<Record<string, FlagValue>>,
  pagesMax: number,
  isLost: (message: Message) => boolean,
): Promise<{ readonly pages: number }> {
  const names = ['state/agents/0', 'state/agents/1']
  const settings = settingsOf(flags)
  const addresses = SharedIpGate.allocate(names.length)
  const crawls = await Promise.all(
    names.map((name, agent) =>
      Crawl.open({
        dir: join(dir, name),
        isLocked: true,
        share: {
          agent,
          agents: names.length,
          here: names.length,
          crawlDir: dir,
          ipGate: new SharedIpGate(addresses, agent, { ipDelayMs: 0, ipConnections: 1_000 }, performance.timeOrigin),
          domainGate: null,
          turns: [],
          onIdle: () => null,
          mayClose: async () => {},
          onShort: () => {},
        },
        seeds: seeds as readonly CanonicalUrl[],
        settings,
        clock: systemClock,
        random: new Random(agent),
        newIdentity,
        software: 'Portolan/test',
        environment: {},
        cpuMs: () => 0,
        peakRssBytes: () => 1,
      }),
    ),
  )
  await writeLayout(dir, names)
  const [one, two] = wires(isLost)
  crawls[0]?.connect(1, one)
  crawls[1]?.connect(0, two)
  const pages = (): number => crawls.reduce((sum, { figures }) => sum + figures.pages, 0)
  const ends = crawls.map((crawl) => crawl.run())
  await new Promise<void>((resolve) => {
    let before = ''
    const watch = setInterval(() => {
      const standings = crawls.map((crawl) => ({ ...crawl.standing(), active: crawl.snapshot().active }))
      const isIdle = standings.every(({ waiting, active }) => waiting === 0 && active === 0)
      const now = JSON.stringify(standings.map(({ moves }) => moves))
      // Nothing has moved for a while, or enough is done: any moment is good, none is needed.
      if (pages() >= pagesMax || (isIdle && now === before)) {
        clearInterval(watch)
        resolve()
      }
      before = now
    }, 250)
  })
  for (const crawl of crawls) crawl.stop('interrupted')
  await Promise.all(ends)
  const done = pages()
  for (const crawl of crawls) await crawl.close()
  return { pages: done }
}

function wires(isLost: (message: Message) => boolean): readonly [Wire, Wire] {
  const ears: [((message: Message) => void) | null, ((message: Message) => void) | null] = [null, null]
  const held: [Message[], Message[]] = [[], []]
  const end = (own: 0 | 1, other: 0 | 1): Wire => ({
    send: (message) => {
      if (isLost(message)) return
      setImmediate(() => {
        const ear = ears[other]
        if (ear === null) held[other].push(message)
        else ear(message)
      })
    },
    listen: (hear) => {
      ears[own] = hear
      for (const message of held[own].splice(0)) hear(message)
    },
    close: () => {},
  })
  return [end(0, 1), end(1, 0)]
}
