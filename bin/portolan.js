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
const kept = keepCompiled('main')

const { findCode } = await import('./find-code.js')
const { loadCode } = await import('./load-code.js')
const { main } = await loadCode(findCode('src/cli/main').href, kept)
await main(process.argv.slice(2))
