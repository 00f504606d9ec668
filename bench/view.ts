// What does the merged view of several agents cost: CPU per line appended, per advance, and per line when it is made anew?
//
//   node bench/view.ts [pages]
//
// 400,000 lines of 620 bytes in four shares by default, in a temporary directory. Figures are CPU time of this process,
// writing the sources left out. Syncs are real; on a slow disk they take longer, not more CPU.

import { appendFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MergedLines } from '../src/view/index.ts'

const SHARES = 4
const LINE = `${'x'.repeat(619)}\n`
const pages = Number(process.argv[2] ?? 400_000)

const dir = await mkdtemp(join(tmpdir(), 'portolan-bench-view-'))
const sources = Array.from({ length: SHARES }, (_, i) => ({ name: `${i}`, path: join(dir, `share-${i}`) }))
const options = { path: join(dir, 'merged'), cursorPath: join(dir, 'cursor'), sources }

/** CPU microseconds of bringing so many lines in by advances of so many each. */
async function merge(merged: MergedLines, lines: number, linesPerAdvance: number, from: number): Promise<number> {
  let cpu = 0
  for (let done = 0; done < lines; done += linesPerAdvance) {
    const each = linesPerAdvance / SHARES
    for (const { path } of sources) await appendFile(path, LINE.repeat(each))
    const length = (from + done + linesPerAdvance) * (LINE.length / SHARES)
    const before = process.cpuUsage()
    await merged.advance(Object.fromEntries(sources.map(({ name }) => [name, length])))
    const { user, system } = process.cpuUsage(before)
    cpu += user + system
  }
  return cpu
}

try {
  let merged = await MergedLines.open(options)
  const perLine: Record<string, number> = {}
  let from = 0
  await merge(merged, 4_000, 400, from)
  from += 4_000
  // As a crawl of some thousand pages a second that is merged every tenth of a second, every second, every ten.
  for (const each of [400, 4_000, 40_000]) {
    const lines = Math.min(pages, 200 * each)
    perLine[`microsecondsPerLineBy${each}`] = Number(((await merge(merged, lines, each, from)) / lines).toFixed(2))
    from += lines
  }
  await merged.close()
  await rm(options.cursorPath)
  merged = await MergedLines.open(options)
  const before = process.cpuUsage()
  await merged.advance(Object.fromEntries(sources.map(({ name }) => [name, (from / SHARES) * LINE.length])))
  const { user, system } = process.cpuUsage(before)
  await merged.close()
  const anew = Number(((user + system) / from).toFixed(2))
  console.log(JSON.stringify({ pages: from, shares: SHARES, ...perLine, microsecondsPerLineMadeAnew: anew }))
} finally {
  await rm(dir, { recursive: true })
}
