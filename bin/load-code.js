// Loads the code that is run, and keeps what was compiled of a bundle.
//
// Node keeps what is compiled when a module is loaded, which is its outermost level: each function is compiled when it is first
// called, at every start anew (1,400 of an agent's, a tenth of its start). So a bundle is CommonJS, which can be
// run as a script, and a script can be kept with all that was compiled of it while it worked.
//
//   chunk.cjs ──▶ script ──▶ run          what it requires of the bundle is loaded alike, everything else by Node
//       kept ──────┘    └── some seconds later, or when the thread ends: kept
//
// A file that is kept ends with two checksums, of the text that it was made of and of itself: another text, or a file that the disk has
// damaged, and it is written anew. V8 looks for itself whether it is of its own version and of the flags of the moment: what is kept while
// they are others than at a start (src/cli/heap-bound.ts) is made anew at the next.

import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { constants, Script } from 'node:vm'
import { threadId } from 'node:worker_threads'
import { crc32 } from 'node:zlib'

/** A bundle is not marked as strict by whoever makes it, and was written to be. */
const BEFORE = Buffer.from(`(function (exports, require, module, __filename, __dirname) { 'use strict'; `)
const AFTER = Buffer.from('\n})')
const CHECKSUMS_BYTES = 8
/** Later, V8 has thrown away what was only needed to start; sooner, what is needed to work is not there yet. */
const KEPT_AFTER_MS = 10_000

/** The module at `url`. What is compiled of it is kept in `folder`, unless that is null. */
export async function loadCode(url, folder) {
  if (!url.endsWith('.cjs')) return import(url)
  const bundle = new Bundle(folder)
  if (folder !== null) {
    setTimeout(() => bundle.keep(), KEPT_AFTER_MS).unref()
    process.once('exit', () => bundle.keep())
  }
  return bundle.load(fileURLToPath(url))
}

class Bundle {
  #folder
  /** By path. In it from before it is run: chunks may require each other. */
  #modules = new Map()
  /** What is not kept yet, or of another time. */
  #unkept = []

  constructor(folder) {
    this.#folder = folder
  }

  load(path) {
    const known = this.#modules.get(path)
    if (known !== undefined) return known.exports
    const module = { exports: {} }
    this.#modules.set(path, module)
    const requireOther = createRequire(path)
    const folder = dirname(path)
    const require = (name) => (name.startsWith('.') ? this.load(join(folder, name)) : requireOther(name))
    try {
      this.#compile(path).call(module.exports, module.exports, require, module, path, folder)
    } catch (fault) {
      // Whoever asks again must not be given half of it.
      this.#modules.delete(path)
      throw fault
    }
    return module.exports
  }

  #compile(filename) {
    const bytes = Buffer.concat([BEFORE, readFileSync(filename), AFTER])
    const checksum = crc32(bytes)
    const path = this.#folder === null ? null : join(this.#folder, `${crc32(filename).toString(16)}.code`)
    const kept = path === null ? null : readKept(path, checksum)
    // A bundle is ASCII. In one piece, and read like this, a text of a megabyte is no part of V8's heap.
    const script = new Script(bytes.toString('latin1'), {
      filename,
      ...(kept === null ? {} : { cachedData: kept }),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    if (path !== null && (kept === null || script.cachedDataRejected)) this.#unkept.push({ script, path, checksum })
    return script.runInThisContext()
  }

  /** Where it cannot be written there is none: the next start compiles anew. */
  keep() {
    for (const { script, path, checksum } of this.#unkept.splice(0)) {
      const unfinished = `${path}-${process.pid}-${threadId}`
      const compiled = script.createCachedData()
      const checksums = Buffer.alloc(CHECKSUMS_BYTES)
      checksums.writeUInt32LE(checksum, 0)
      checksums.writeUInt32LE(crc32(compiled), 4)
      try {
        writeFileSync(unfinished, Buffer.concat([compiled, checksums]), { mode: 0o600 })
        renameSync(unfinished, path)
      } catch {
        rmSync(unfinished, { force: true })
        return
      }
    }
  }
}

/** Null where there is none, of another text, or damaged. */
function readKept(path, checksum) {
  try {
    const bytes = readFileSync(path)
    const end = bytes.length - CHECKSUMS_BYTES
    const compiled = bytes.subarray(0, end)
    const isWhole = bytes.readUInt32LE(end) === checksum && bytes.readUInt32LE(end + 4) === crc32(compiled)
    return isWhole ? compiled : null
  } catch {
    return null
  }
}
