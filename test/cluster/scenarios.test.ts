// The scenarios of scenarios/*.txt, each a script in plain words.

import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { runScenario } from './scenario.ts'
import { LawBroken } from './simulated-cluster.ts'

const FOLDER = new URL('scenarios/', import.meta.url)

for (const file of readdirSync(FOLDER).sort()) {
  test(`scenario: ${file.replace('.txt', '').replaceAll('-', ' ')}`, async () => {
    await runScenario(readFileSync(new URL(file, FOLDER), 'utf8'))
  })
}

test('a scenario whose expectation does not hold fails, with its line and the story', async () => {
  await expect(runScenario('start ada\nwait 30s\nexpect view bea\n')).rejects.toThrow(
    /line 3, 'expect view bea': it is 'ada'[\s\S]*ada starts/,
  )
  await expect(runScenario('start ada\nwait 30s\nexpect no share moved')).rejects.toThrow(LawBroken)
  await expect(runScenario('start ada\nexpect wonders')).rejects.toThrow(/nothing that can be expected/)
})
