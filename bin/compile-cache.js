// Where compiled code is kept between runs. What lies there is run without being looked at again, so it must lie where
// nobody else can write: in a folder of our own in the user's cache, never in a directory that all users share. Where such a
// folder cannot be had there is none, and each start compiles anew.

import { lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { enableCompileCache, getCompileCacheDir } from 'node:module'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'

/**
 * Keeps what is compiled from here on under `name`; NODE_COMPILE_CACHE is the user's word and stands. Returns the folder in it for this
 * version of Node and its flags, or null where nothing is kept.
 */
export function keepCompiled(name) {
  if (process.env.NODE_COMPILE_CACHE) enableCompileCache()
  else {
    const directory = privateDirectory(cacheOf(process.env), name)
    if (directory !== null) enableCompileCache(directory)
  }
  return getCompileCacheDir() ?? null
}

/** The user's cache, as the XDG specification has it. */
function cacheOf(environment) {
  const { XDG_CACHE_HOME = '' } = environment
  return isAbsolute(XDG_CACHE_HOME) ? XDG_CACHE_HOME : join(homedir(), '.cache')
}

/** `base/portolan/name`, made if need be; null unless only we (and root) can write there and change what its path means. */
export function privateDirectory(base, name) {
  const own = join(base, 'portolan', name)
  try {
    // One by one: Node's own `recursive` never returns where a directory cannot be made, as in /proc.
    for (const one of [base, dirname(own), own]) makeDirectory(one)
    const real = realpathSync(own)
    return isPrivate(real) ? real : null
  } catch {
    return null
  }
}

function makeDirectory(path) {
  try {
    mkdirSync(path, 0o700)
  } catch (cause) {
    if (cause.code !== 'EEXIST') throw cause
  }
}

/** As sshd judges a key: each folder on the way is ours or root's, and others may at most add to it, not move what is there. */
function isPrivate(path) {
  const user = process.getuid?.()
  // Where there are no user ids, home directories are guarded by the system.
  if (user === undefined) return true
  for (let at = path; ; at = dirname(at)) {
    const { uid, mode } = lstatSync(at)
    const isOpen = (mode & 0o022) !== 0
    const isSticky = (mode & 0o1000) !== 0
    if ((uid !== user && uid !== 0) || (isOpen && (at === path || !isSticky))) return false
    if (at === dirname(at)) return true
  }
}
