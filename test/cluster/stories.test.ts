// Stories of test/scenarios that are short enough for every run, told at the same time: most of it is waiting for leases.
// `npm run scenarios` tells all of them.

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { crawlGiant } from './lent-turns.ts'
import { tellStory } from './story.ts'

const STORIES = ['strangers-are-refused', 'late-comer', 'frozen-owner-wakes', 'node-cut-off']

for (const name of STORIES) {
  test.concurrent(name.replaceAll('-', ' '), { timeout: 240_000 }, async () => {
    const path = fileURLToPath(new URL(`../scenarios/${name}.txt`, import.meta.url))
    // Fails with the line that did not come true; the end of each story is judged.
    expect((await tellStory(path)).problems).toEqual([])
  })
}

test.concurrent('a giant host is asked by several nodes, and by one at a time', { timeout: 240_000 }, async () => {
  await crawlGiant()
})
