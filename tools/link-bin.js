// Puts this clone's own command beside those of its dependencies, so that 'npx portolan' starts it
// at once, with the Node that 'npm ci' installed, instead of packing the clone into npm's cache.
import { symlinkSync, rmSync, existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const bin = fileURLToPath(new URL('../node_modules/.bin', import.meta.url))
if (existsSync(bin) && process.platform !== 'win32') {
  rmSync(`${bin}/portolan`, { force: true })
  symlinkSync('../../bin/portolan.js', `${bin}/portolan`)
}
