#!/usr/bin/env node
// The launcher: plain JavaScript that any Node can read, so that an old one gets an explanation
// instead of a syntax error. It starts no second process; a kill reaches the crawler itself.

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const NEEDED = [24, 12]
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)

if (major < NEEDED[0] || (major === NEEDED[0] && minor < NEEDED[1])) {
  const local = fileURLToPath(new URL('../node_modules/.bin/node', import.meta.url))
  process.stderr.write(
    `portolan needs Node.js ${NEEDED.join('.')} or newer; this is ${process.versions.node}.\n` +
      (existsSync(local)
        ? `A fitting one is installed with the project. Start it with\n  npx portolan …\nor\n  ${local} ${process.argv[1]} …\n`
        : `In a clone of the project, 'npm ci' installs a fitting one and 'npx portolan …' uses it.\n` +
          `Elsewhere, install Node.js 24 from your system or from nodejs.org.\n`),
  )
  process.exit(2)
}

// Half of the start-up is compiling; Node keeps the result for the next time.
const { keepCompiled } = await import('./compile-cache.js')
keepCompiled('main')

// V8 lets the space for young objects grow to 128 MB on large machines; a crawl of 25,000 pages then took 390 MB.
// Bounded at 32 MB it took 310, with no more CPU; bounded at 2 MB it took 284, with a fifth more. (The size itself
// can only be set before V8 starts.)
const YOUNG_BYTES = 32e6
const { getHeapSpaceStatistics, setFlagsFromString } = await import('node:v8')
const watch = setInterval(() => {
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  if (young === undefined || young.space_size < YOUNG_BYTES) return
  setFlagsFromString('--semi-space-growth-factor=1')
  clearInterval(watch)
}, 50)
watch.unref()

// A published package carries compiled code; a clone runs its sources directly.
const compiled = new URL('../dist/src/cli/main.js', import.meta.url)
const { main } = await import(
  existsSync(compiled) ? compiled.href : new URL('../src/cli/main.ts', import.meta.url).href
)
await main(process.argv.slice(2))
