// Runs every bench, one after the other, each in a process of its own.
//
//   npm run bench            all
//   npm run bench -- url     those whose name contains a word

import { spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('.', import.meta.url))
// Two of them are proofs that take minutes, and have commands of their own.
const NOT_BENCHES = new Set(['all.ts', 'corpus.ts', 'synthetic-web.ts', 'crash-equivalence.ts', 'memory-bound.ts'])
const words = process.argv.slice(2)
const files = readdirSync(folder).filter(
  (file) =>
    file.endsWith('.ts') && !NOT_BENCHES.has(file) && (words.length === 0 || words.some((word) => file.includes(word))),
)
for (const file of files.sort()) {
  console.log(`\n== ${file}`)
  const { status } = spawnSync(process.execPath, [`${folder}${file}`], { stdio: 'inherit' })
  if (status !== 0) process.exitCode = 1
}
