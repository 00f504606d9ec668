// A disk that loses what was not synced. It takes down everything that is asked of the real one below a directory, and can
// then make that directory anew as a loss of power would have left it, at any moment and with any luck.
//
//   vi.mock('node:fs', async (original) => (await import('…/recorded-fs.ts')).recordedFs(await original()))
//   vi.mock('node:fs/promises', async (original) => (await import('…/recorded-fs.ts')).recordedFsPromises(await original()))
//
//   const disk = SimulatedDisk.watch(directory)
//   …the code under test, noting disk.now whenever something was promised…
//   disk.stop()
//   await disk.afterEachCut('a seed', 3, async (copy, cut) => …is there in copy what was promised by cut.at?…)
//
// What a cut may leave is said in power-cut.ts. Calls that change a watched directory in a way that is not simulated
// throw: silence would be a hole in every test that stands on this.

import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { Random } from '../../src/base/index.ts'
import { afterPowerCut, type DiskContent, type DiskEvent, type Fates } from './power-cut.ts'

/** The real one, also where `node:fs` is mocked. */
const { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } =
  process.getBuiltinModule('node:fs')

export type Operation = 'create' | 'write' | 'sync' | 'rename' | 'remove'

export interface PowerCut {
  /** How many events had begun. */
  readonly at: number
  /** Says how to see it again. */
  readonly name: string
  /** Makes the directory as it was left; what stands there goes first. */
  make(directory: string): void
}

/** An open file or directory of the disk. */
export interface OpenFile {
  readonly file: number
  readonly path: string
  readonly isAppending: boolean
  position: number
}

let watching: SimulatedDisk | null = null

/** The disk that a path lies on, if it is watched. */
export function diskOf(path: unknown): SimulatedDisk | null {
  if (watching === null || typeof path !== 'string') return null
  return watching.holds(path) ? watching : null
}

export function diskOfOpen(fd: number): { disk: SimulatedDisk; open: OpenFile } | null {
  const open = watching?.openFiles.get(fd)
  return watching === null || open === undefined ? null : { disk: watching, open }
}

export class SimulatedDisk {
  readonly #directory: string
  readonly #before: DiskContent
  readonly events: DiskEvent[] = []
  readonly openFiles = new Map<number, OpenFile>()
  readonly #names: Map<string, number>
  readonly #directories: Map<string, number>
  #files = 0
  /** Orders beginnings and ends. */
  #tick = 0
  /** Makes an operation fail, by the errno it gives. Files are told by their path below the directory. */
  refuse: (operation: Operation, path: string) => string | null = () => null

  private constructor(directory: string) {
    this.#directory = resolve(directory)
    this.#before = { names: new Map(), directories: new Map(), bytes: new Map() }
    this.#read('.')
    this.#names = new Map(this.#before.names)
    this.#directories = new Map(this.#before.directories)
  }

  /** What stands in the directory now counts as durable. One disk is watched at a time. */
  static watch(directory: string): SimulatedDisk {
    watching = new SimulatedDisk(directory)
    return watching
  }

  stop(): void {
    if (watching === this) watching = null
  }

  /** A moment, as cuts tell it. */
  get now(): number {
    return this.events.length
  }

  /** Every moment so far with everything lost, everything kept, and some chances. */
  *cuts(seed: string, chances = 3): Generator<PowerCut> {
    for (let at = 0; at <= this.events.length; at++) {
      yield this.#cut(at, 'lost', 'lost')
      yield this.#cut(at, 'kept', 'kept')
      for (let chance = 0; chance < chances; chance++) {
        const name = `${seed}/${at}/${chance}`
        yield this.#cut(at, name, new Random(name))
      }
    }
  }

  /** Makes the directory anew after each of these cuts, for `check` to look at and to go on with; says which it failed at. */
  async afterEachCut(
    seed: string,
    chances: number,
    check: (directory: string, cut: PowerCut) => Promise<void>,
  ): Promise<void> {
    const parent = mkdtempSync(join(tmpdir(), 'portolan-cut-'))
    const directory = join(parent, 'directory')
    try {
      for (const cut of this.cuts(seed, chances)) {
        cut.make(directory)
        await check(directory, cut).catch((cause: unknown) => {
          throw new Error(`${cut.name}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
        })
      }
    } finally {
      rmSync(parent, { recursive: true })
    }
  }

  #cut(at: number, name: string, fates: Fates): PowerCut {
    const make = (directory: string): void => {
      const content = afterPowerCut(this.#before, this.events, at, fates)
      rmSync(directory, { recursive: true, force: true })
      for (const path of [...content.directories.keys()].toSorted()) mkdirSync(join(directory, path))
      for (const [path, file] of content.names)
        writeFileSync(join(directory, path), content.bytes.get(file) ?? Buffer.alloc(0))
    }
    return { at, name: `cut at ${at} of ${this.events.length}, ${name}`, make }
  }

  // What follows is for the recorder.

  holds(path: string): boolean {
    const full = resolve(path)
    return full === this.#directory || full.startsWith(`${this.#directory}/`)
  }

  inside(path: string): string {
    return relative(this.#directory, resolve(path)) || '.'
  }

  /** The number of what has a name now. */
  find(path: string): number | undefined {
    const inside = this.inside(path)
    return this.#names.get(inside) ?? this.#directories.get(inside)
  }

  refuseIfTold(operation: Operation, path: string): void {
    const errno = this.refuse(operation, this.inside(path))
    if (errno === null) return
    throw Object.assign(new Error(`${errno}: told to refuse, ${operation} '${path}'`), { code: errno })
  }

  /** A new file or directory under a name; its number. */
  nameNew(path: string, isDirectory = false): { file: number; done: (hasFailed: boolean) => void } {
    const file = isDirectory ? -++this.#files : ++this.#files
    return { file, done: this.rename(null, path, file) }
  }

  rename(from: string | null, to: string | null, file: number): (hasFailed: boolean) => void {
    const inside = (path: string | null): string | null => (path === null ? null : this.inside(path))
    const event: DiskEvent = {
      kind: 'name',
      from: inside(from),
      to: inside(to),
      file,
      endedAt: Infinity,
      hasFailed: false,
    }
    this.events.push(event)
    return (hasFailed) => {
      event.hasFailed = hasFailed
      event.endedAt = ++this.#tick
      if (hasFailed) return
      const names = file < 0 ? this.#directories : this.#names
      if (event.from !== null) names.delete(event.from)
      if (event.to !== null) names.set(event.to, file)
    }
  }

  /** Bytes on their way; to be told how many were taken. */
  write(file: number, offset: number, bytes: Uint8Array): (taken: number) => void {
    const event: DiskEvent = { kind: 'write', file, offset, bytes: Buffer.from(bytes), endedAt: Infinity }
    this.events.push(event)
    return (taken) => {
      event.bytes = event.bytes.subarray(0, taken)
      event.endedAt = ++this.#tick
    }
  }

  truncate(file: number, length: number): () => void {
    const event: DiskEvent = { kind: 'truncate', file, length, endedAt: Infinity }
    this.events.push(event)
    return () => void (event.endedAt = ++this.#tick)
  }

  /** To be told when it has ended well. */
  sync(file: number): () => void {
    const beganAt = ++this.#tick
    return () => void this.events.push({ kind: file < 0 ? 'sync-directory' : 'sync', file, beganAt })
  }

  #read(path: string): void {
    this.#before.directories.set(path, -++this.#files)
    for (const entry of readdirSync(join(this.#directory, path), { withFileTypes: true })) {
      const inside = path === '.' ? entry.name : join(path, entry.name)
      if (entry.isDirectory()) {
        this.#read(inside)
        continue
      }
      this.#before.names.set(inside, ++this.#files)
      this.#before.bytes.set(this.#files, readFileSync(join(this.#directory, inside)))
    }
  }
}

export function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0
}
