// What a call to the file system means for a SimulatedDisk: each begin…() is called before the real call, and gives what
// is to be called after it; nothing where no disk is concerned. Told to refuse, they throw.

import { diskOf, diskOfOpen, type OpenFile, type SimulatedDisk, sizeOf } from './simulated-disk.ts'

type Flags = string | number
type Path = string

const { constants, fstatSync } = process.getBuiltinModule('node:fs')
const { O_APPEND, O_CREAT, O_TRUNC } = constants

export function beginOpen(path: Path, flags: Flags): { opened: (fd: number) => void; failed: () => void } | null {
  const disk = diskOf(path)
  if (disk === null) return null
  const isCreating = typeof flags === 'string' ? /^[wa]/.test(flags) : (flags & O_CREAT) !== 0
  const isEmptying = typeof flags === 'string' ? flags.startsWith('w') : (flags & O_TRUNC) !== 0
  const isAppending = typeof flags === 'string' ? flags.startsWith('a') : (flags & O_APPEND) !== 0
  const known = disk.find(path)
  if (known === undefined && isCreating) {
    disk.refuseIfTold('create', path)
    const { file, done } = disk.nameNew(path)
    return {
      opened: (fd) => {
        done(false)
        disk.openFiles.set(fd, { file, path, isAppending, position: 0 })
      },
      failed: () => done(true),
    }
  }
  // Opened for nothing else it would be there already: 'wx' fails.
  const isExclusive = typeof flags === 'string' && flags.includes('x')
  const emptied = known !== undefined && isEmptying && !isExclusive ? disk.truncate(known, 0) : null
  return {
    opened: (fd) => {
      emptied?.()
      if (known !== undefined) disk.openFiles.set(fd, { file: known, path, isAppending, position: 0 })
    },
    failed: () => undefined,
  }
}

export function beginWrite(fd: number, bytes: Uint8Array, position?: number | null): ((taken: number) => void) | null {
  const found = diskOfOpen(fd)
  if (found === null) return null
  const { disk, open } = found
  disk.refuseIfTold('write', open.path)
  const offset = offsetOf(open, fd, position)
  const done = disk.write(open.file, offset, bytes)
  return (taken) => {
    done(taken)
    if (typeof position !== 'number') open.position = offset + taken
  }
}

function offsetOf(open: OpenFile, fd: number, position?: number | null): number {
  if (open.isAppending) return fstatSync(fd).size
  return position ?? open.position
}

export function beginWriteFile(path: Path, data: string | Uint8Array, flag = 'w'): (() => void) | undefined {
  const disk = diskOf(path)
  if (disk === null) return undefined
  disk.refuseIfTold('write', path)
  const known = disk.find(path)
  const created = known === undefined ? disk.nameNew(path) : null
  const file = known ?? created?.file ?? 0
  const bytes = Buffer.from(data as string)
  const emptied = known !== undefined && flag === 'w' ? disk.truncate(file, 0) : null
  const done = disk.write(file, flag === 'a' ? sizeOf(path) : 0, bytes)
  return () => {
    created?.done(false)
    emptied?.()
    done(bytes.length)
  }
}

export function beginTruncate(path: Path, length: number): (() => void) | undefined {
  const disk = diskOf(path)
  disk?.refuseIfTold('write', path)
  const file = disk?.find(path)
  return file === undefined ? undefined : disk?.truncate(file, length)
}

export function beginSync(fd: number): (() => void) | undefined {
  const found = diskOfOpen(fd)
  found?.disk.refuseIfTold('sync', found.open.path)
  return found?.disk.sync(found.open.file)
}

export function beginRename(from: Path, to: Path): ((hasFailed: boolean) => void) | undefined {
  const disk = diskOf(from)
  if (disk === null) return undefined
  if (diskOf(to) === null) throw new Error(`the simulated disk does not know how to move ${from} away`)
  disk.refuseIfTold('rename', from)
  const file = disk.find(from)
  return file === undefined ? undefined : disk.rename(from, to, file)
}

export function beginRemove(path: Path): ((hasFailed: boolean) => void) | undefined {
  const disk = diskOf(path)
  disk?.refuseIfTold('remove', path)
  const file = disk?.find(path)
  if (file !== undefined && file < 0) throw new Error(`the simulated disk does not know how to remove ${path}`)
  return file === undefined ? undefined : disk?.rename(path, null, file)
}

export function beginMkdir(path: Path): ((hasFailed: boolean) => void) | undefined {
  const disk: SimulatedDisk | null = diskOf(path)
  if (disk === null || disk.find(path) !== undefined) return undefined
  disk.refuseIfTold('create', path)
  return disk.nameNew(path, true).done
}
