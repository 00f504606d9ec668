// Objects of any size in NATS: parts first, under a number nobody knows; then one message that says which parts make the
// object, created where its name has none. So an object is whole or not there, whoever is cut where, and the first to put a
// name wins. (The object store of the client library replaces what has the name, and may wait for ever for a part.)
//
//   portolan.<crawl>.object.part.<id>    its parts, OBJECT_PART_BYTES each but the last
//   portolan.<crawl>.object.of.<name>    {"id", "bytes", "sha256", "parts": [[first place, how many], …]}

import { createHash } from 'node:crypto'
import { DiscardPolicy } from '@nats-io/jetstream'
import { nuid } from '@nats-io/transport-node'
import { assert, Fault, systemClock } from '../base/index.ts'
import type { Objects } from './engine.ts'
import type { Layout } from './layout.ts'
import { checkName } from './names.ts'
import { codeOf, type NatsLink, WRONG_LAST_SEQUENCE } from './nats-link.ts'
import { NatsStream } from './nats-stream.ts'

const OBJECT_PART_BYTES = 256 * 1024
/** Parts sent before the first of them is acknowledged. */
const PARTS_AHEAD = 8
/** As many parts as their places have room for in one message, however scattered. */
const OBJECT_BYTES_MAX = 4 * 1024 ** 3
/** A put that takes longer is given up; parts that are twice as old and belong to nothing were left by one that died. */
const PUT_MS_MAX = 30 * 60_000

interface Manifest {
  readonly id: string
  readonly bytes: number
  readonly sha256: string
  /** Runs of places: the first, and how many. */
  readonly parts: readonly (readonly [number, number])[]
}

export class NatsObjects implements Objects {
  readonly #link: NatsLink
  readonly #layout: Layout['objects']
  readonly #stream: NatsStream

  private constructor(link: NatsLink, layout: Layout['objects'], stream: NatsStream) {
    this.#link = link
    this.#layout = layout
    this.#stream = stream
  }

  static async open(link: NatsLink, layout: Layout, replicas: number): Promise<NatsObjects> {
    const stream = await NatsStream.open(link, 'objects', {
      name: layout.objects.stream,
      subjects: [layout.objects.all],
      num_replicas: replicas,
      discard: DiscardPolicy.New,
      allow_direct: true,
      duplicate_window: 100_000_000,
    })
    return new NatsObjects(link, layout.objects, stream)
  }

  async put(name: string, bytes: AsyncIterable<Uint8Array> | Uint8Array): Promise<void> {
    checkName(name)
    if (await this.has(name)) return
    const id = nuid.next()
    // Two clocks: one does not count while a machine sleeps, the other may be set back.
    const startMs = systemClock.nowMs()
    const startWallMs = systemClock.wallMs()
    let isOurs = false
    try {
      const manifest = await this.#putParts(id, name, bytes instanceof Uint8Array ? [bytes] : bytes)
      const tookMs = Math.max(systemClock.nowMs() - startMs, systemClock.wallMs() - startWallMs)
      if (tookMs > PUT_MS_MAX) throw new Fault('ENGINE_UNREACHABLE', `object ${name}: putting it took ${tookMs} ms`)
      isOurs = await this.#putManifest(name, manifest)
    } finally {
      // Left behind where the engine is gone as well; sweep() finds them.
      if (!isOurs) await this.#stream.dropSubject(this.#layout.part(id)).catch(() => undefined)
    }
  }

  async *get(name: string): AsyncGenerator<Uint8Array> {
    checkName(name)
    const manifest = await this.#manifest(name)
    if (manifest === null) throw new Fault('OBJECT_MISSING', `the engine has no object ${name}`)
    const places = manifest.parts.flatMap(([first, count]) =>
      Array.from({ length: count }, (_, index) => first + index),
    )
    const hash = createHash('sha256')
    let bytes = 0
    try {
      for await (const part of this.#stream.entries(places)) {
        bytes += part.bytes.length
        hash.update(part.bytes)
        yield part.bytes
      }
    } catch (error) {
      if (error instanceof Fault && error.code === 'LOG_TRIMMED') {
        throw new Fault('OBJECT_MISSING', `object ${name}: parts of it are gone from the engine`, error)
      }
      throw error
    }
    if (bytes !== manifest.bytes || hash.digest('hex') !== manifest.sha256) {
      throw new Fault('OBJECT_MISSING', `object ${name}: what the engine has is not what was put there`)
    }
  }

  async has(name: string): Promise<boolean> {
    checkName(name)
    return (await this.#manifest(name)) !== null
  }

  async delete(name: string): Promise<void> {
    checkName(name)
    const manifest = await this.#manifest(name)
    if (manifest === null) return
    await this.#stream.dropSubject(this.#layout.of(name))
    await this.#stream.dropSubject(this.#layout.part(manifest.id))
  }

  async list(prefix: string): Promise<readonly string[]> {
    const start = this.#layout.of('')
    const names: string[] = []
    for await (const { subject } of this.#stream.walk(`${start}>`)) names.push(subject.slice(start.length))
    return names.filter((name) => name.startsWith(prefix)).sort()
  }

  /** Drops parts that were left by puts which never ended. How many of those there were. */
  async sweep(nowWallMs = systemClock.wallMs()): Promise<number> {
    const start = this.#layout.part('')
    // First the parts: an object that is finished meanwhile is found among the objects.
    const ids = (await this.#stream.subjects(`${start}>`)).map((subject) => subject.slice(start.length))
    const wanted = new Set<string>()
    for (const name of await this.list('')) wanted.add((await this.#manifest(name))?.id ?? '')
    let swept = 0
    for (const id of ids.filter((one) => !wanted.has(one))) {
      const last = await this.#stream.lastOf(this.#layout.part(id))
      if (last === null || nowWallMs - last.wallMs < 2 * PUT_MS_MAX) continue
      await this.#stream.dropSubject(this.#layout.part(id))
      swept++
    }
    return swept
  }

  async #putParts(
    id: string,
    name: string,
    pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<Manifest> {
    const hash = createHash('sha256')
    const places: number[] = []
    const ahead: Promise<number>[] = []
    let bytes = 0
    const send = async (part: Uint8Array): Promise<void> => {
      if (ahead.length >= PARTS_AHEAD) places.push((await ahead.shift()) ?? 0)
      const sending = this.#putPart(id, name, part)
      // Whoever stops at an earlier one does not wait for these.
      sending.catch(() => undefined)
      ahead.push(sending)
    }
    for await (const part of partsOf(pieces)) {
      bytes += part.length
      assert(bytes <= OBJECT_BYTES_MAX, `object ${name}: more than ${OBJECT_BYTES_MAX} bytes`)
      hash.update(part)
      await send(part)
    }
    for (const sending of ahead) places.push(await sending)
    return { id, bytes, sha256: hash.digest('hex'), parts: runsOf(places) }
  }

  /** Where it stands; a second one that a lost answer left behind is not mentioned, and goes with the object. */
  async #putPart(id: string, name: string, part: Uint8Array): Promise<number> {
    return this.#link.ask(`object ${name}`, async () => {
      const { seq } = await this.#link.jetStream.publish(this.#layout.part(id), part)
      return seq
    })
  }

  async #putManifest(name: string, manifest: Manifest): Promise<boolean> {
    return this.#link.ask(`object ${name}`, async () => {
      try {
        await this.#link.jetStream.publish(this.#layout.of(name), JSON.stringify(manifest), {
          expect: { lastSubjectSequence: 0 },
        })
        return true
      } catch (error) {
        if (codeOf(error) !== WRONG_LAST_SEQUENCE) throw error
        return (await this.#manifest(name))?.id === manifest.id
      }
    })
  }

  async #manifest(name: string): Promise<Manifest | null> {
    const entry = await this.#stream.firstOf(this.#layout.of(name))
    return entry === null ? null : (JSON.parse(Buffer.from(entry.bytes).toString()) as Manifest)
  }
}

/** The same bytes in parts of one size. Each is a copy: it is sent when the piece may have been used again. */
async function* partsOf(pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let part = new Uint8Array(OBJECT_PART_BYTES)
  let filled = 0
  for await (const piece of pieces) {
    for (let from = 0; from < piece.length;) {
      const taken = piece.subarray(from, from + OBJECT_PART_BYTES - filled)
      part.set(taken, filled)
      filled += taken.length
      from += taken.length
      if (filled < OBJECT_PART_BYTES) continue
      yield part
      part = new Uint8Array(OBJECT_PART_BYTES)
      filled = 0
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

function runsOf(places: readonly number[]): [number, number][] {
  const runs: [number, number][] = []
  for (const place of places) {
    const run = runs.at(-1)
    if (run !== undefined && run[0] + run[1] === place) run[1]++
    else runs.push([place, 1])
  }
  return runs
}
