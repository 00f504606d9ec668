import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Random, systemClock } from '../base/index.ts'
import { Lease } from '../cluster/index.ts'
import { MemoryEngine } from '../engine/index.ts'
import { settingsOf } from '../../test/crawl/run-crawl.ts'
import { ShareLog } from '../replica/index.ts'
import { HostedShares } from './hosted-shares.ts'

let dir = ''
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'portolan-hosted-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const HOLDER = { node: 'a', incarnation: 'one' }

/** Shares of a node whose agents find no engine: none of them opens. */
function hostedInVain() {
  const engine = MemoryEngine.create({ clock: systemClock, random: new Random(7) }).client()
  const events: string[] = []
  const hosted = new HostedShares({
    engine,
    crew: {
      agents: 2,
      dirOf: (share) => join(dir, String(share)),
      isShared: true,
      common: {
        crawlDir: dir,
        seeds: [],
        settings: settingsOf({}),
        identity: { name: 'test', key: '0123456789abcdef', startedAtMs: 0 },
        software: 'test',
        environment: {},
        since: null,
      },
      clock: systemClock,
      care: { restartsMax: 0, restartsWithinMs: 60_000, lookMs: 1_000 },
      faults: null,
    },
    ordersOf: (held) => ({
      engine: { servers: ['nats://127.0.0.1:1'], crawl: 'test', connectMs: 1 },
      held,
      lease: Lease.allocate(),
      here: 1,
      assignment: 'rendezvous',
    }),
    isFenced: () => false,
    onLost: () => {},
    onBroken: () => {},
    onEvent: ({ kind }) => events.push(kind),
  })
  return { hosted, events, engine }
}

test('a share that was begun and could not be opened is released when it is given up', async () => {
  const { hosted, events } = hostedInVain()
  const seen = await hosted.standing(1)
  await expect(hosted.take(1, seen, HOLDER)).rejects.toThrow()
  // The log names us: nobody else may begin it.
  expect(await hosted.standing(1)).toMatchObject({ epoch: 1, holder: HOLDER, released: false })
  await hosted.giveUp(1)
  expect(await hosted.standing(1)).toMatchObject({ epoch: 1, holder: null, released: true })
  // Asked for again, as after an answer that was lost, it stays so.
  await hosted.giveUp(1)
  expect(await hosted.standing(1)).toMatchObject({ epoch: 1, released: true })
  expect(events).toEqual(['share-failed', 'share-released'])
  await hosted.letGo()
})

test('a share that another has begun meanwhile is left to it', async () => {
  const { hosted, events, engine } = hostedInVain()
  await expect(hosted.take(1, await hosted.standing(1), HOLDER)).rejects.toThrow()
  const log = await ShareLog.open(engine, 1)
  const other = { node: 'b', incarnation: 'two' }
  await log.begin(other, await log.standing())
  await hosted.giveUp(1)
  expect(await hosted.standing(1)).toMatchObject({ epoch: 2, holder: other, released: false })
  expect(events).toEqual(['share-failed'])
  await hosted.letGo()
})
