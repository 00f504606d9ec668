// Are the rules of lent turns needed, and would we notice? Each is broken in turn, and the simulation must catch it.
//
//   node bench/lending-mutations.ts [worlds a mutant]

import { caughtAfter, MUTANTS } from '../test/agents/lending-mutants.ts'

const worlds = Number(process.argv[2] ?? 400)
let missed = 0
for (const mutant of MUTANTS) {
  const after = await caughtAfter(mutant, worlds)
  if (after === null) missed++
  process.stdout.write(`${after === null ? 'MISSED' : `caught after ${after}`}: ${mutant.name}\n`)
}
process.exitCode = missed === 0 ? 0 : 1
