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
  await build({
    configFile: false,
    root: ROOT,
    logLevel: 'error',
    plugins: [
      {
        name: 'note-sources',
        transform: (_, id) => {
          if (isOurs(id)) note(id)
        },
      },
    ],
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
          'src/catalogue/catalogue-thread': join(ROOT, 'src/catalogue/catalogue-thread.ts'),
          // Beside the chunks, where whoever starts it looks for it.
          'src/chunks/forked-main': join(ROOT, 'testweb/forked-main.ts'),
        },
        // Nothing of ours is imported for what it does when it is loaded: a thread loads what it uses of a room, not the room.
        treeshake: { moduleSideEffects: (id) => !isOurs(id) },
        // As deep as the files that are compiled one by one: what is told from there of other files stays true.
        output: { entryFileNames: '[name].js', chunkFileNames: 'src/chunks/[name]-[hash].js' },
      },
    },
  })
  // It would be taken for that of the sources whatever becomes of them.
  if (Object.keys(madeOf).length === besideSources)
    throw new Error(`none of the sources in ${ROOT} were seen to be bundled`)
  return madeOf
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
