// The laws of engine.ts, held against any engine: the one in memory beside this file, real servers in test/engine.

import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { Random } from '../base/index.ts'
import { type Engine, type EngineLog, ENTRY_BYTES_MAX } from './engine.ts'

export interface EngineStand {
  /** One more that takes part in the same crawl. */
  client(): Promise<Engine>
  close(): Promise<void>
}

const bytes = (text: string): Uint8Array => Buffer.from(text)
const textOf = (value: Uint8Array | null): string | null => (value === null ? null : Buffer.from(value).toString())

/** What comes by itself is waited for, not slept for. */
async function eventually(check: () => void | Promise<void>): Promise<void> {
  await vi.waitFor(check, { timeout: 10_000, interval: 2 })
}

async function textsAfter(log: EngineLog, after: number): Promise<(string | null)[]> {
  const found: (string | null)[] = []
  for await (const entry of log.read(after)) {
    expect(entry.at).toBe(after + found.length + 1)
    found.push(textOf(entry.bytes))
  }
  return found
}

async function contentOf(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}

/** Exactly one of all that ask hears `created`, and what stands there is what it wrote. Returns the races held. */
export async function raceToCreate(clients: readonly Engine[], races: number, prefix: string): Promise<void> {
  for (let race = 0; race < races; race++) {
    const name = `${prefix}.${race}`
    const answers = await Promise.all(clients.map(async (client, who) => client.records.create(name, bytes(`${who}`))))
    const winners = answers.flatMap((answer, who) => (answer === 'created' ? [`${who}`] : []))
    expect(winners, `race ${race}`).toHaveLength(1)
    expect(textOf((await clients[race % clients.length]?.records.get(name)) ?? null)).toBe(winners[0])
  }
}

/** Every place is won by exactly one, and the log says who. */
export async function raceToAppend(clients: readonly Engine[], races: number, name: string): Promise<void> {
  const logs = await Promise.all(clients.map(async (client) => client.log(name)))
  const start = (await logs[0]?.last()) ?? 0
  const winners: string[] = []
  for (let race = 0; race < races; race++) {
    const answers = await Promise.all(logs.map(async (log, who) => log.append(bytes(`${race} ${who}`), start + race)))
    const won = answers.flatMap((answer, who) => (answer.kind === 'appended' ? [{ ...answer, who }] : []))
    expect(won, `race ${race}`).toHaveLength(1)
    expect(won[0]?.at).toBe(start + race + 1)
    winners.push(`${race} ${won[0]?.who}`)
  }
  expect(await textsAfter(logs.at(-1) as EngineLog, start)).toEqual(winners)
}

export function engineConformance(
  title: string,
  make: () => Promise<EngineStand>,
  settings: {
    readonly clients: number
    readonly races: number
    readonly objectBytes: number
    readonly timeout?: number
  },
): void {
  describe(title, { timeout: settings.timeout ?? 30_000 }, () => {
    let stand: EngineStand
    let clients: Engine[]
    let one: Engine
    let other: Engine
    let names = 0
    /** All tests share a crawl: making one costs seconds where servers must agree. */
    const fresh = (): string => `t${++names}`

    beforeAll(async () => {
      stand = await make()
      clients = await Promise.all(Array.from({ length: settings.clients }, async () => stand.client()))
      one = clients[0] as Engine
      other = clients[1] as Engine
    }, 60_000)
    afterAll(async () => stand.close(), 60_000)

    test('of all who create a record exactly one has created it', async () => {
      await raceToCreate(clients, settings.races, fresh())
    })

    test('a record is what its creator wrote, for everybody, for ever', async () => {
      const name = `${fresh()}.a`
      expect(await other.records.get(name)).toBeNull()
      expect(await one.records.create(name, bytes('first'))).toBe('created')
      expect(await other.records.create(name, bytes('second'))).toBe('exists')
      expect(await one.records.create(name, bytes('third'))).toBe('exists')
      for (const client of clients) expect(textOf(await client.records.get(name))).toBe('first')
    })

    test('records are listed by the parts their names begin with, in the order of their creation', async () => {
      const prefix = fresh()
      for (const name of ['b', 'a.2', 'a.1', 'c']) await one.records.create(`${prefix}.${name}`, bytes(name))
      await one.records.create(`${prefix}a.1`, bytes(''))
      const listed = await other.records.list(prefix)
      expect(listed.map(({ name, value }) => [name, textOf(value)])).toEqual(
        ['b', 'a.2', 'a.1', 'c'].map((name) => [`${prefix}.${name}`, name]),
      )
      expect((await other.records.list(`${prefix}.a`)).map(({ name }) => name)).toEqual([
        `${prefix}.a.2`,
        `${prefix}.a.1`,
      ])
      expect(await other.records.list(`${prefix}.none`)).toEqual([])
    })

    test('a watch tells what is there before it is a watch, then each that comes, in order, once', async () => {
      const prefix = fresh()
      const heard: string[] = []
      for (const name of ['1', '2']) await one.records.create(`${prefix}.${name}`, bytes(name))
      const stop = await other.records.watch(prefix, ({ name, value }) => heard.push(`${name} ${textOf(value)}`))
      const line = (name: string): string => `${prefix}.${name} ${name}`
      expect(heard).toEqual([line('1'), line('2')])
      const more = Array.from({ length: 20 }, (_, index) => `${index + 3}`)
      for (const name of more) {
        await clients[Number(name) % clients.length]?.records.create(`${prefix}.${name}`, bytes(name))
      }
      await eventually(() => expect(heard).toHaveLength(22))
      expect(heard).toEqual(['1', '2', ...more].map(line))
      stop()
      stop()
      await one.records.create(`${prefix}.after`, bytes(''))
      const again: string[] = []
      await other.records.watch(prefix, ({ name }) => again.push(name))
      expect(again).toHaveLength(23)
      expect(heard).toHaveLength(22)
    })

    test('an entry is added only after the last one', async () => {
      const name = fresh()
      const log = await one.log(name)
      expect(await one.log(name)).toBe(log)
      expect([await log.last(), await log.first()]).toEqual([0, 1])
      expect(await log.append(bytes('early'), 1)).toEqual({ kind: 'refused', last: 0 })
      expect(await log.append(bytes('a'), 0)).toEqual({ kind: 'appended', at: 1 })
      expect(await log.append(bytes('late'), 0)).toEqual({ kind: 'refused', last: 1 })
      const same = await other.log(name)
      expect(await same.append(bytes('b'), 1)).toEqual({ kind: 'appended', at: 2 })
      expect(await log.append(bytes('c'), 1)).toEqual({ kind: 'refused', last: 2 })
      expect([await log.last(), await log.first()]).toEqual([2, 1])
      expect(await textsAfter(log, 0)).toEqual(['a', 'b'])
      expect(await textsAfter(same, 1)).toEqual(['b'])
      expect(await textsAfter(log, 2)).toEqual([])
      expect(await textsAfter(log, 9)).toEqual([])
    })

    test('of all who append at a place exactly one has, and the log says who', async () => {
      await raceToAppend(clients, settings.races, fresh())
    })

    test('what was acknowledged is there for everybody who asks afterwards', async () => {
      const name = fresh()
      const logs = await Promise.all(clients.map(async (client) => client.log(name)))
      for (let at = 0; at < 60; at++) {
        const writer = logs[at % logs.length] as EngineLog
        const reader = logs[(at + 1) % logs.length] as EngineLog
        expect(await writer.append(bytes(`${at}`), at)).toEqual({ kind: 'appended', at: at + 1 })
        expect(await reader.last()).toBe(at + 1)
        expect(await textsAfter(reader, at)).toEqual([`${at}`])
      }
    })

    test('a log that is trimmed keeps its last entry, and says so to whoever wants what is gone', async () => {
      const name = fresh()
      const log = await one.log(name)
      const same = await other.log(name)
      await log.trim(5)
      for (let at = 0; at < 10; at++) await log.append(bytes(`${at}`), at)
      await log.trim(0)
      expect(await same.first()).toBe(1)
      await log.trim(1)
      expect(await same.first()).toBe(2)
      await log.trim(4)
      await log.trim(2)
      expect([await same.first(), await same.last()]).toEqual([5, 10])
      await expect(textsAfter(same, 3)).rejects.toMatchObject({ code: 'LOG_TRIMMED' })
      expect(await textsAfter(same, 4)).toEqual(['4', '5', '6', '7', '8', '9'])
      await log.trim(99)
      expect([await same.first(), await same.last()]).toEqual([10, 10])
      expect(await textsAfter(same, 9)).toEqual(['9'])
      expect(await textsAfter(same, 10)).toEqual([])
      expect(await same.append(bytes('next'), 10)).toEqual({ kind: 'appended', at: 11 })
    })

    test('entries and records of every size up to the limit come back as they were, and none beyond is taken', async () => {
      const name = fresh()
      const log = await one.log(name)
      const random = new Random(5)
      const large = Uint8Array.from({ length: ENTRY_BYTES_MAX }, () => random.below(256))
      const sizes = [0, 1, 1_000, ENTRY_BYTES_MAX]
      for (const [at, size] of sizes.entries()) await log.append(large.subarray(0, size), at)
      let at = 0
      for await (const entry of (await other.log(name)).read(0)) {
        expect(Buffer.compare(entry.bytes, large.subarray(0, sizes[at++]))).toBe(0)
      }
      expect(at).toBe(sizes.length)
      await expect(log.append(new Uint8Array(ENTRY_BYTES_MAX + 1), at)).rejects.toMatchObject({ code: 'ASSERTION' })
      await one.records.create(name, large)
      expect(Buffer.compare((await other.records.get(name)) ?? bytes(''), large)).toBe(0)
    })

    test('a beat is acknowledged, and heard by everybody: the last of each name as past, then every new one', async () => {
      const name = fresh()
      await one.beat(`${name}.a`, bytes('1'), 5_000)
      await one.beat(`${name}.a`, bytes('2'), 5_000)
      await one.beat(`${name}.b`, bytes('1'), 5_000)
      expect(textOf((await other.lastBeat(`${name}.a`)) ?? bytes(''))).toBe('2')
      expect(await other.lastBeat(`${name}.c`)).toBeNull()
      const heard: string[] = []
      const stop = await other.watchBeats((who, value, isPast) => {
        if (who.startsWith(`${name}.`))
          heard.push(`${who.slice(name.length + 1)}${textOf(value)}${isPast ? ' past' : ''}`)
      })
      expect(heard).toEqual(['a2 past', 'b1 past'])
      for (let beat = 3; beat <= 12; beat++) {
        await one.beat(`${name}.a`, bytes(`${beat}`), 5_000)
      }
      await eventually(() => expect(heard.at(-1)).toBe('a12'))
      expect(heard.slice(2)).toEqual(Array.from({ length: 10 }, (_, index) => `a${index + 3}`))
      stop()
    })

    test('an object is what was put, whole, first, until it is deleted', async () => {
      const name = `${fresh()}.snapshot`
      const random = new Random(11)
      const content = Buffer.alloc(settings.objectBytes)
      for (let at = 0; at + 4 <= content.length; at += 4) content.writeUInt32LE(random.next32(), at)
      const digest = (all: Uint8Array): string => createHash('sha256').update(all).digest('hex')
      async function* pieces(): AsyncGenerator<Uint8Array> {
        const piece = Buffer.alloc(100_003)
        for (let from = 0; from < content.length; from += piece.length) {
          // One buffer, used again and again, as readers of files do.
          const taken = content.copy(piece, 0, from, from + piece.length)
          yield piece.subarray(0, taken)
        }
      }
      expect(await other.objects.has(name)).toBe(false)
      await expect(contentOf(other.objects.get(name))).rejects.toMatchObject({ code: 'OBJECT_MISSING' })
      await one.objects.put(name, pieces())
      expect(await other.objects.has(name)).toBe(true)
      expect(digest(await contentOf(other.objects.get(name)))).toBe(digest(content))
      await other.objects.put(name, bytes('another'))
      expect((await contentOf(one.objects.get(name))).length).toBe(content.length)
      await one.objects.put(`${name}.empty`, bytes(''))
      expect((await contentOf(other.objects.get(`${name}.empty`))).length).toBe(0)
      expect(await other.objects.list(name)).toEqual([name, `${name}.empty`])
      await other.objects.delete(name)
      await other.objects.delete(name)
      expect(await one.objects.has(name)).toBe(false)
      expect(await one.objects.list(name)).toEqual([`${name}.empty`])
      await one.objects.put(name, bytes('anew'))
      expect(textOf(await contentOf(other.objects.get(name)))).toBe('anew')
    })

    test('an object whose source breaks in the middle does not exist', async () => {
      const name = fresh()
      async function* breaking(): AsyncGenerator<Uint8Array> {
        for (let piece = 0; piece < 6; piece++) yield Buffer.alloc(100_000, piece)
        throw new Error('the disk is gone')
      }
      await expect(one.objects.put(name, breaking())).rejects.toThrow('the disk is gone')
      expect(await other.objects.has(name)).toBe(false)
      await one.objects.put(name, bytes('whole'))
      expect(textOf(await contentOf(other.objects.get(name)))).toBe('whole')
    })

    test('of all who put an object of one name one is there, whole', async () => {
      const name = fresh()
      await Promise.all(clients.map(async (client, who) => client.objects.put(name, Buffer.alloc(300_000, who + 1))))
      const [first] = await Promise.all(clients.map(async (client) => contentOf(client.objects.get(name))))
      expect(first).toHaveLength(300_000)
      expect(new Set(first).size).toBe(1)
    })

    test('messages reach whoever listens to their subject, in the order of their sender', async () => {
      const subject = fresh()
      const heard = new Map<string, string[]>()
      const listen = (pattern: string): void => {
        heard.set(pattern, [])
        other.subscribe(pattern, (value, from) => {
          if (textOf(value) !== 'hello?') heard.get(pattern)?.push(`${from.slice(subject.length + 1)} ${textOf(value)}`)
        })
      }
      for (const pattern of [`${subject}.a`, `${subject}.*`, `${subject}.>`]) listen(pattern)
      let isHeard = false
      other.subscribe(`${subject}.hello`, () => (isHeard = true))
      // Who listens is known to all servers a moment later.
      await eventually(() => {
        one.publish(`${subject}.hello`, bytes('hello?'))
        expect(isHeard).toBe(true)
      })
      for (let index = 0; index < 100; index++) {
        for (const part of ['a', 'b', 'c.d']) one.publish(`${subject}.${part}`, bytes(`${index}`))
      }
      const parts = ['a', 'b', 'c.d'] as const
      const expected = (wanted: readonly string[]): string[] =>
        Array.from({ length: 100 }, (_, index) =>
          parts.filter((part) => wanted.includes(part)).map((part) => `${part} ${index}`),
        ).flat()
      await eventually(() => expect(heard.get(`${subject}.>`)).toHaveLength(300))
      expect(heard.get(`${subject}.>`)).toEqual(expected(parts))
      expect(heard.get(`${subject}.*`)).toEqual(expected(['a', 'b']))
      expect(heard.get(`${subject}.a`)).toEqual(expected(['a']))
    })

    test('a question reaches the service of its name, and its answer or failure comes back', async () => {
      const name = fresh()
      const serve = async (engine: Engine, who: string): Promise<() => void> =>
        engine.serve({ kind: 'node', name: who, version: '1.2.3' }, async (question) => {
          if (textOf(question) === 'break') throw new Error(`${who} is broken`)
          return bytes(`${who} heard ${textOf(question)}`)
        })
      const stopA = await serve(one, `${name}-a`)
      await serve(other, `${name}-b`)
      const asker = clients.at(-1) as Engine
      await eventually(async () => {
        expect(textOf(await asker.call('node', `${name}-b`, bytes('hi'), 2_000))).toBe(`${name}-b heard hi`)
      })
      expect(textOf(await other.call('node', `${name}-a`, bytes('hi'), 2_000))).toBe(`${name}-a heard hi`)
      await expect(asker.call('node', `${name}-b`, bytes('break'), 2_000)).rejects.toMatchObject({
        code: 'CALL_FAILED',
        message: expect.stringContaining(`${name}-b is broken`) as string,
      })
      const found = async (): Promise<string[]> =>
        (await asker.discover('node', 200))
          .filter((info) => info.name.startsWith(name) && info.version === '1.2.3' && info.kind === 'node')
          .map((info) => info.name)
          .sort()
      expect(await found()).toEqual([`${name}-a`, `${name}-b`])
      expect(await asker.discover('nothing', 50)).toEqual([])
      stopA()
      await eventually(async () => {
        const asking = asker.call('node', `${name}-a`, bytes('hi'), 1_000)
        await expect(asking).rejects.toMatchObject({ code: 'CALL_UNANSWERED' })
      })
      expect(await found()).toEqual([`${name}-b`])
    })

    test('a service that does not answer is given up in time', async () => {
      const name = fresh()
      await one.serve({ kind: 'node', name, version: '1.0.0' }, async () => new Promise(() => undefined))
      await expect(one.call('node', name, bytes('hi'), 50)).rejects.toMatchObject({ code: 'CALL_UNANSWERED' })
    })

    test('names that are none are refused before anything is sent', async () => {
      for (const name of ['', '.', 'a.', '.a', 'a..b', 'a b', 'a*', 'a.>', 'ä', 'x'.repeat(201)]) {
        await expect(one.records.create(name, bytes(''))).rejects.toMatchObject({ code: 'ASSERTION' })
        await expect(one.log(name)).rejects.toMatchObject({ code: 'ASSERTION' })
        await expect(one.beat(name, bytes(''), 100)).rejects.toMatchObject({ code: 'ASSERTION' })
        await expect(one.objects.put(name, bytes(''))).rejects.toMatchObject({ code: 'ASSERTION' })
        expect(() => one.publish(name, bytes(''))).toThrow(expect.objectContaining({ code: 'ASSERTION' }) as Error)
      }
      expect(() => one.subscribe('a.>.b', () => undefined)).toThrow(
        expect.objectContaining({ code: 'ASSERTION' }) as Error,
      )
    })

    test('whoever has closed is answered no more, and the others go on', async () => {
      const name = fresh()
      const leaving = await stand.client()
      const log = await leaving.log(name)
      await leaving.close()
      await leaving.close()
      expect(leaving.isConnected).toBe(false)
      await expect(leaving.records.get('x')).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
      await expect(log.append(bytes('x'), 0)).rejects.toMatchObject({ code: 'ENGINE_UNREACHABLE' })
      leaving.publish(name, bytes('x'))
      expect(await (await one.log(name)).append(bytes('y'), 0)).toEqual({ kind: 'appended', at: 1 })
    })
  })
}
