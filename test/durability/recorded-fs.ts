// `node:fs` and `node:fs/promises` that tell a SimulatedDisk what is done to its directory, and do it.
//
// An event begins before the call and ends after it, so that a cut may fall between: what is on its way may be there.
// Nothing is really synced: a sync asks for the size of the file instead, by the same way and as late, but in no time.

import type * as Fs from 'node:fs'
import type * as FsPromises from 'node:fs/promises'
import {
  beginMkdir,
  beginOpen,
  beginRemove,
  beginRename,
  beginSync,
  beginTruncate,
  beginWrite,
  beginWriteFile,
} from './disk-recorder.ts'
import { diskOf, diskOfOpen } from './simulated-disk.ts'

type Handle = FsPromises.FileHandle
type Flags = string | number
type Path = string

const real = process.getBuiltinModule('node:fs')

/** Change files in ways that are not simulated. */
const UNKNOWN = [
  ...['cp', 'copyFile', 'symlink', 'link', 'truncate', 'appendFile', 'writeFile', 'rename', 'unlink', 'rm', 'rmdir'],
  ...['mkdir', 'open', 'write', 'writev', 'ftruncate', 'createWriteStream', 'mkdtemp', 'utimes', 'chmod'],
]
const UNKNOWN_SYNC = ['cpSync', 'copyFileSync', 'symlinkSync', 'linkSync', 'rmdirSync', 'writevSync', 'appendFileSync']
const UNKNOWN_PROMISES = ['cp', 'symlink', 'rmdir', 'mkdtemp', 'lutimes', 'chmod']
const UNKNOWN_OF_HANDLE = ['writev', 'appendFile', 'createWriteStream', 'chmod', 'utimes']

export function recordedFs(fs: typeof Fs): typeof Fs {
  const recorded = {
    ...fs,
    ...refusals(fs, [...UNKNOWN, ...UNKNOWN_SYNC]),
    openSync: (path: Path, flags: Flags = 'r', mode?: number): number => {
      const opening = beginOpen(path, flags)
      try {
        const fd = fs.openSync(path, flags, mode)
        opening?.opened(fd)
        return fd
      } catch (cause) {
        opening?.failed()
        throw cause
      }
    },
    closeSync: (fd: number): void => {
      diskOfOpen(fd)?.disk.openFiles.delete(fd)
      fs.closeSync(fd)
    },
    writeSync: (fd: number, data: Uint8Array, offset = 0, length = data.byteLength - offset, position?: number) => {
      const writing = beginWrite(fd, data.subarray(offset, offset + length), position)
      const taken = fs.writeSync(fd, data, offset, length, position)
      writing?.(taken)
      return taken
    },
    ftruncateSync: (fd: number, length = 0): void => {
      const found = diskOfOpen(fd)
      found?.disk.refuseIfTold('write', found.open.path)
      const done = found?.disk.truncate(found.open.file, length)
      fs.ftruncateSync(fd, length)
      done?.()
    },
    truncateSync: (path: Path, length = 0): void => {
      const done = beginTruncate(path, length)
      fs.truncateSync(path, length)
      done?.()
    },
    fsyncSync: (fd: number): void => {
      const done = beginSync(fd)
      fs.fstatSync(fd)
      done?.()
    },
    fdatasyncSync: (fd: number): void => {
      const done = beginSync(fd)
      fs.fstatSync(fd)
      done?.()
    },
    fsync: (fd: number, callback: Fs.NoParamCallback): void => syncLater(fd, callback),
    fdatasync: (fd: number, callback: Fs.NoParamCallback): void => syncLater(fd, callback),
    renameSync: (from: Path, to: Path): void => settled(beginRename(from, to), () => fs.renameSync(from, to)),
    unlinkSync: (path: Path): void => settled(beginRemove(path), () => fs.unlinkSync(path)),
    rmSync: (path: Path, options?: Fs.RmOptions): void => settled(beginRemove(path), () => fs.rmSync(path, options)),
    mkdirSync: (path: Path, options?: Fs.MakeDirectoryOptions): string | undefined =>
      settled(beginMkdir(path), () => fs.mkdirSync(path, options)),
    writeFileSync: (path: Path, data: string | Uint8Array): void => {
      const writing = beginWriteFile(path, data)
      fs.writeFileSync(path, data)
      writing?.()
    },
  }
  return { ...recorded, default: recorded } as unknown as typeof Fs
}

export function recordedFsPromises(promises: typeof FsPromises): typeof FsPromises {
  const recorded = {
    ...promises,
    ...refusals(promises, UNKNOWN_PROMISES),
    open: async (path: Path, flags: Flags = 'r', mode?: number): Promise<Handle> => {
      const opening = beginOpen(path, flags)
      try {
        const handle = await promises.open(path, flags, mode)
        opening?.opened(handle.fd)
        return opening === null ? handle : recordedHandle(handle)
      } catch (cause) {
        opening?.failed()
        throw cause
      }
    },
    rename: (from: Path, to: Path) => settledLater(beginRename(from, to), () => promises.rename(from, to)),
    unlink: (path: Path) => settledLater(beginRemove(path), () => promises.unlink(path)),
    rm: (path: Path, options?: Fs.RmOptions) => settledLater(beginRemove(path), () => promises.rm(path, options)),
    mkdir: (path: Path, options?: Fs.MakeDirectoryOptions) =>
      settledLater(beginMkdir(path), () => promises.mkdir(path, options)),
    link: (from: Path, to: Path) => {
      const disk = diskOf(to)
      disk?.refuseIfTold('create', to)
      const file = disk?.find(from)
      return settledLater(file === undefined ? undefined : disk?.rename(null, to, file), () => promises.link(from, to))
    },
    truncate: async (path: Path, length = 0): Promise<void> => {
      const done = beginTruncate(path, length)
      await promises.truncate(path, length)
      done?.()
    },
    writeFile: async (path: Path, data: string | Uint8Array, options?: Fs.WriteFileOptions): Promise<void> => {
      const writing = beginWriteFile(path, data, flagOf(options))
      await promises.writeFile(path, data, options)
      writing?.()
    },
    appendFile: async (path: Path, data: string | Uint8Array): Promise<void> => {
      const writing = beginWriteFile(path, data, 'a')
      await promises.appendFile(path, data)
      writing?.()
    },
    copyFile: async (from: Path, to: Path, mode?: number): Promise<void> => {
      const writing = diskOf(to) === null ? undefined : beginWriteFile(to, real.readFileSync(from))
      await promises.copyFile(from, to, mode)
      writing?.()
    },
  }
  return { ...recorded, default: recorded } as unknown as typeof FsPromises
}

function recordedHandle(handle: Handle): Handle {
  const { fd } = handle
  const recorded: Record<string, unknown> = {
    ...refusals(handle, UNKNOWN_OF_HANDLE, () => true),
    write: async (data: Uint8Array, offset = 0, length = data.byteLength - offset, position?: number | null) => {
      const writing = beginWrite(fd, data.subarray(offset, offset + length), position)
      const result = await handle.write(data, offset, length, position)
      writing?.(result.bytesWritten)
      return result
    },
    writeFile: async (data: string | Uint8Array): Promise<void> => {
      const bytes = Buffer.from(data as string)
      const writing = beginWrite(fd, bytes)
      await handle.writeFile(bytes)
      writing?.(bytes.length)
    },
    truncate: async (length = 0): Promise<void> => {
      const found = diskOfOpen(fd)
      found?.disk.refuseIfTold('write', found.open.path)
      const done = found?.disk.truncate(found.open.file, length)
      await handle.truncate(length)
      done?.()
    },
    sync: async (): Promise<void> => {
      const done = beginSync(fd)
      await handle.stat()
      done?.()
    },
    datasync: async (): Promise<void> => {
      const done = beginSync(fd)
      await handle.stat()
      done?.()
    },
    close: async (): Promise<void> => {
      diskOfOpen(fd)?.disk.openFiles.delete(fd)
      await handle.close()
    },
  }
  return new Proxy(handle, {
    get: (target, name) => {
      if (typeof name === 'string' && name in recorded) return recorded[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function syncLater(fd: number, callback: Fs.NoParamCallback): void {
  let done: (() => void) | undefined
  try {
    done = beginSync(fd)
  } catch (cause) {
    setImmediate(() => callback(cause as NodeJS.ErrnoException))
    return
  }
  real.fstat(fd, (cause) => {
    if (cause === null) done?.()
    callback(cause)
  })
}

function flagOf(options: Fs.WriteFileOptions | undefined): string {
  return (typeof options === 'object' && options?.flag?.slice(0, 1)) || 'w'
}

function settled<T>(done: ((hasFailed: boolean) => void) | undefined, call: () => T): T {
  try {
    const result = call()
    done?.(false)
    return result
  } catch (cause) {
    done?.(true)
    throw cause
  }
}

async function settledLater<T>(done: ((hasFailed: boolean) => void) | undefined, call: () => Promise<T>): Promise<T> {
  try {
    const result = await call()
    done?.(false)
    return result
  } catch (cause) {
    done?.(true)
    throw cause
  }
}

/** Functions that throw where they would touch a watched directory. */
function refusals(
  module: object,
  names: readonly string[],
  isWatched = (args: readonly unknown[]): boolean =>
    args.some((one) => (typeof one === 'number' ? diskOfOpen(one) !== null : diskOf(one) !== null)),
): Record<string, unknown> {
  const functions = module as Record<string, unknown>
  return Object.fromEntries(
    names.map((name) => [
      name,
      (...args: unknown[]): unknown => {
        if (isWatched(args.slice(0, 2))) throw new Error(`the simulated disk does not know ${name}()`)
        return (functions[name] as (...args: unknown[]) => unknown)(...args)
      },
    ]),
  )
}
