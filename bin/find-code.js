// Which code is run. A published package carries compiled code. A clone has its sources, and a bundle of them that 'npm ci' has
// made (tools/bundle.js), which starts faster: it is taken while every file that it was made of is as it was then.
// Whoever changes one runs the sources.

import { existsSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../', import.meta.url)

/** The module at `path` of the sources, given without its ending, as it is run here. */
export function findCode(path) {
  // Tests put a bundle where compiled code is (test/built.ts).
  for (const ending of ['js', 'cjs']) {
    const compiled = new URL(`dist/${path}.${ending}`, ROOT)
    if (existsSync(compiled)) return compiled
  }
  return findBundled(path) ?? new URL(`${path}.ts`, ROOT)
}

/** The same in the bundle; null unless that is a copy of the sources as they are. */
export function findBundled(path) {
  return isBundleFresh() ? new URL(`.bundle/${path}.cjs`, ROOT) : null
}

/** Looks at some 700 files: a few thousandths of a second, where to load those takes a third of one. */
function isBundleFresh() {
  try {
    const madeOf = JSON.parse(readFileSync(new URL('.bundle/made-of.json', ROOT), 'utf8'))
    const root = fileURLToPath(ROOT)
    for (const path in madeOf) {
      const [mtimeMs, size] = madeOf[path]
      const file = statSync(root + path)
      if (file.mtimeMs !== mtimeMs || file.size !== size) return false
    }
    return true
  } catch {
    // There is none, or a file is gone.
    return false
  }
}
