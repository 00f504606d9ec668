// Stories of test/scenarios that are short enough for every run, told at the same time: most of it is waiting for leases.
// Whatever does not come is said by the story itself, long before Vitest would.
// `npm run scenarios` tells all of them.

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { tellStory } from './story.ts'

const STORIES = ['strangers-are-refused', 'late-comer', 'frozen-owner-wakes', 'node-cut-off', 'paused']

for (const name of STORIES) {
  test.concurrent(name.replaceAll('-', ' '), { timeout: 600_000 }, async () => {
    const path = fileURLToPath(new URL(`../scenarios/${name}.txt`, import.meta.url))
    // Fails with the line that did not come true; the end of each story is judged.
    expect((await tellStory(path)).problems).toEqual([])
  })
}
