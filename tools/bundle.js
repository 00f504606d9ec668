// Makes one bundle of the product: every module in a few files. Node finds, reads, strips and links modules one by one, which is
// half of what a small crawl costs.
//
// Part of 'npm ci' (prepare): a clone runs .bundle/ while its sources are those that it was made of (bin/find-code.js), and
// the sources themselves from the first change on. Tests start one of their own (test/built.ts). Plain JavaScript, like what runs
// beside it before anything else is there.
//
//   node tools/bundle.js [--if-possible]     --if-possible: no complaint where the packages for building are left out

import { existsSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** As the bundler writes paths, on every system. */
const ROOT_OF_IDS = ROOT.replaceAll(sep, '/')
const FOLDER = join(ROOT, '.bundle')
/** What says which packages are bundled, in which state. */
const BESIDE_SOURCES = ['package.json', 'package-lock.json', 'tools/bundle.js']

/**
 * Apart from each other: what two share would be in a chunk of its own, and what is called from one chunk in another is looked up there at
 * each call. The agent, where all the work is done, is one file but for what it loads when it needs it.
 */
const ENTRIES = [
  { 'src/supervise/agent-thread': 'src/supervise/agent-thread.ts' },
  {
    'src/cli/main': 'src/cli/main.ts',
    'src/catalogue/catalogue-thread': 'src/catalogue/catalogue-thread.ts',
    // Beside the chunks, where whoever starts it looks for it.
    'src/chunks/forked-main': 'testweb/forked-main.ts',
  },
]

/** Writes it into `outDir`; returns what it was made of: size and time of every file, by path in the clone. */
export async function bundle(outDir) {
  const { build } = await import('vite')
  const madeOf = {}
  const note = (path) => {
    const { mtimeMs, size } = statSync(path)
    madeOf[relative(ROOT, path).replaceAll('\\', '/')] = [mtimeMs, size]
  }
  for (const path of BESIDE_SOURCES) note(join(ROOT, path))
  const besideSources = Object.keys(madeOf).length
  const plugin = {
    name: 'note-sources',
    transform: (_, id) => {
      if (isOurs(id)) note(id)
    },
    // Of a text with one letter beyond Latin 1 V8 takes two bytes for each, and keeps all of it in its heap.
    generateBundle: (_, files) => {
      for (const file of Object.values(files)) if (file.type === 'chunk') file.code = inAscii(file.code)
    },
  }
  for (const input of ENTRIES) await build(optionsOf(input, outDir, plugin))
  // It would be taken for that of the sources whatever becomes of them.
  if (Object.keys(madeOf).length === besideSources)
    throw new Error(`none of the sources in ${ROOT} were seen to be bundled`)
  return madeOf
}

function optionsOf(entries, outDir, plugin) {
  return {
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [plugin],
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
        input: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(ROOT, path)])),
        // Nothing of ours is imported for what it does when it is loaded: a thread loads what it uses of a room, not the room.
        treeshake: { moduleSideEffects: (id) => !isOurs(id) },
        output: {
          // So that all that is compiled of it can be kept (bin/load-code.js).
          format: 'cjs',
          // As deep as the files that are compiled one by one: what is told from there of other files stays true.
          entryFileNames: '[name].cjs',
          chunkFileNames: 'src/chunks/[name]-[hash].cjs',
        },
      },
    },
  }
}

/** As escapes, which mean the same in texts, patterns and names, and nothing in comments. */
function inAscii(code) {
  return code.replaceAll(/[^\0-\x7F]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Not a package, and nothing that only the bundler knows. */
function isOurs(id) {
  return id.startsWith(ROOT_OF_IDS) && !id.startsWith(`${ROOT_OF_IDS}node_modules/`)
}

async function main() {
  try {
    await import('vite')
  } catch (error) {
    if (!process.argv.includes('--if-possible')) throw error
    return
  }
  const unfinished = `${FOLDER}-${process.pid}`
  const madeOf = await bundle(unfinished)
  writeFileSync(join(unfinished, 'made-of.json'), JSON.stringify(madeOf))
  // Out of the way as a whole: whoever starts now must not find half of it.
  const old = `${unfinished}-old`
  if (existsSync(FOLDER)) renameSync(FOLDER, old)
  renameSync(unfinished, FOLDER)
  rmSync(old, { recursive: true, force: true })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main()
