// The product as tests start it in processes and threads of its own, hundreds of times a run: bundled, as a clone runs it too
// (tools/bundle.js). To find and load the sources one by one takes half of what a process costs that then crawls twenty pages.
//
//   src/**, testweb/**  ──bundled──▶  tmp/built/HASH/  bin/*.js     as they are
//                                                      dist/…       where they look for what is published
//
// What a test imports itself is loaded from the sources, and test/cli/package.test.ts runs what is published, compiled file by file.
// The folder is named after all that went into it: it is made once for each state of the sources, in a second, and the compiled code that
// Node keeps of it is found again.

import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'
import type { TestProject } from 'vitest/node'
// @ts-expect-error Plain JavaScript: it runs before anything else is there.
import { bundle as untyped } from '../tools/bundle.js'
import { BUILT_VARIABLE } from './cli/portolan.ts'

const bundle = untyped as (outDir: string) => Promise<unknown>

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = join(ROOT, 'tmp/built')
const MADE_OF = ['src', 'testweb', 'bin', 'package.json', 'package-lock.json', 'tools/bundle.js', 'test/built.ts']
/** Others may be in use by another run that began before the sources changed. */
const OLD_MS = 86_400_000

/** What those who start threads call the code of a thread among the sources, and where it is when it is built. */
const THREAD_CODE: readonly { readonly starter: string; readonly source: string; readonly built: string }[] = [
  {
    starter: '/src/supervise/agent-handle.ts',
    source: `'./agent-thread.ts'`,
    built: 'dist/src/supervise/agent-thread.cjs',
  },
  {
    starter: '/src/catalogue/open-catalogue.ts',
    source: `'./catalogue-thread.ts'`,
    built: 'dist/src/catalogue/catalogue-thread.cjs',
  },
]

/** Where it is, or will be; said to the processes of the tests by a variable. */
export function announceBuilt(): void {
  const hash = createHash('sha256')
  for (const part of MADE_OF) {
    const isFolder = statSync(join(ROOT, part)).isDirectory()
    const files = isFolder ? readdirSync(join(ROOT, part), { recursive: true, encoding: 'utf8' }).toSorted() : ['']
    for (const name of files) {
      const path = join(ROOT, part, name)
      if (!/\.(?:ts|js|json)$/.test(path) || /\.(?:test|fuzz)\.ts$/.test(path)) continue
      hash.update(`${part}/${name}\0`).update(readFileSync(path)).update('\0')
    }
  }
  process.env[BUILT_VARIABLE] = join(FOLDERS, hash.digest('hex').slice(0, 16))
}

/** Threads in the processes of tests begin there as well. */
export function threadsFromBuilt(): Plugin {
  return {
    name: 'threads-from-built',
    // As it is written, before anything else is made of it.
    enforce: 'pre',
    transform(code, id) {
      const folder = process.env[BUILT_VARIABLE]
      const thread = THREAD_CODE.find(({ starter }) => id.endsWith(starter))
      if (folder === undefined || thread === undefined) return null
      if (!code.includes(thread.source)) throw new Error(`${id} no longer names ${thread.source}`)
      return code.replace(thread.source, `'${pathToFileURL(join(folder, thread.built)).href}'`)
    },
  }
}

/** Before the first test file that needs it; called by Vitest. */
export async function setup({ vitest: { config } }: TestProject): Promise<void> {
  const folder = process.env[BUILT_VARIABLE]
  // Whoever watches changes the sources meanwhile.
  if (config.watch) delete process.env[BUILT_VARIABLE]
  if (config.watch || folder === undefined || existsSync(folder)) return
  mkdirSync(FOLDERS, { recursive: true })
  for (const name of readdirSync(FOLDERS)) {
    const path = join(FOLDERS, name)
    if (Date.now() - statSync(path).mtimeMs > OLD_MS) rmSync(path, { recursive: true })
  }
  const unfinished = `${folder}-${process.pid}`
  await bundle(join(unfinished, 'dist'))
  for (const part of ['bin', 'package.json']) cpSync(join(ROOT, part), join(unfinished, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(unfinished, 'node_modules'))
  try {
    renameSync(unfinished, folder)
  } catch (cause) {
    // Another run has made the same meanwhile.
    if (!existsSync(folder)) throw cause
    rmSync(unfinished, { recursive: true })
  }
}
