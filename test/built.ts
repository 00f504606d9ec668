// The product as tests start it in processes and threads of its own, hundreds of times a run: every module in a few files. To find and
// load the sources one by one takes half of what a process costs that then crawls twenty pages, and more of an agent's thread.
//
//   src/**, testweb/**  ──bundled──▶  tmp/built/HASH/  bin/portolan.js, bin/agent.js     as they are
//                                                      dist/…                            where they look for what is published
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
import { build, type Plugin } from 'vite'
import { BUILT_VARIABLE } from './cli/portolan.ts'

const ROOT = join(import.meta.dirname, '..')
const FOLDERS = join(ROOT, 'tmp/built')
const MADE_OF = ['src', 'testweb', 'bin', 'package.json', 'package-lock.json', 'test/built.ts']
/** Others may be in use by another run that began before the sources changed. */
const OLD_MS = 86_400_000

/** Where it is, or will be; said to the processes of the tests by a variable. */
export function announceBuilt(): string {
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
  const folder = join(FOLDERS, hash.digest('hex').slice(0, 16))
  process.env[BUILT_VARIABLE] = folder
  return folder
}

/** Threads of crawls in the processes of tests begin there as well. */
export function agentsFrom(folder: string): Plugin {
  return {
    name: 'agents-from-built',
    transform(code, id) {
      if (!id.endsWith('/src/supervise/agent-handle.ts')) return null
      return code.replace(`'../../bin/agent.js'`, `'${pathToFileURL(join(folder, 'bin/agent.js')).href}'`)
    },
  }
}

/** Before the first test file that needs it; called by Vitest. */
export async function setup(): Promise<void> {
  const folder = announceBuilt()
  if (existsSync(folder)) return
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

async function bundle(outDir: string): Promise<void> {
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    // What lies beside its code as a binary is found from where it is installed.
    ssr: { noExternal: true, external: ['classic-level'] },
    build: {
      ssr: true,
      outDir,
      emptyOutDir: false,
      minify: false,
      target: 'esnext',
      copyPublicDir: false,
      rolldownOptions: {
        input: {
          'src/cli/main': join(ROOT, 'src/cli/main.ts'),
          'src/supervise/agent-thread': join(ROOT, 'src/supervise/agent-thread.ts'),
          // Beside the chunks, where whoever starts it looks for it.
          'src/chunks/forked-main': join(ROOT, 'testweb/forked-main.ts'),
        },
        // As deep as the files that are compiled one by one: what is told from there of other files stays true.
        output: { entryFileNames: '[name].js', chunkFileNames: 'src/chunks/[name]-[hash].js' },
      },
    },
  })
}
