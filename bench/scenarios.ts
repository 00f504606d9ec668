// Do the stories of a cluster come true? Every test/scenarios/*.txt, or those that are named, told to real nodes and NATS servers.
//
//   npm run scenarios -- [name…]
//
// Ends with 1 if one does not. Some take a minute; `npm test` tells the short ones (test/cluster/stories.test.ts).

import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tellStory } from '../test/cluster/story.ts'

const folder = fileURLToPath(new URL('../test/scenarios', import.meta.url))
const wanted = process.argv.slice(2)
const names = readdirSync(folder)
  .map((file) => file.replace(/\.txt$/, ''))
  .filter((name) => wanted.length === 0 || wanted.includes(name))
for (const name of names) {
  const startMs = performance.now()
  const seconds = (): string => ((performance.now() - startMs) / 1_000).toFixed(1)
  try {
    const { pages, requests, again, againBySelf } = await tellStory(`${folder}/${name}.txt`)
    console.log(
      `${name}: holds in ${seconds()} s; ${pages} pages, ${requests} requests, ${again} asked for again (${againBySelf} by itself)`,
    )
  } catch (error) {
    console.log(`${name}: does not hold (${seconds()} s): ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
