// In which processes test files run, and in which order (vitest.config.ts).
//
//   long     ▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆▆          first: whoever starts the longest file last waits for it alone
//   alone    ▂▂▃▃▂▃▂▂▃▂▂▃▂▂            a process each: servers, threads, processes, clocks and disks that are not what they seem
//   together        ▁▁▁▁▁▁▁▁▁▁▁▁▁▁      one process after another file in the same one: calculations. They fill the gaps at the end
//
// To start a process and to load Vitest, fast-check and the product anew costs about half a second of CPU, which is more than most
// of the files at the bottom take.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Files of many seconds, the longest first. Vitest knows how long a file took last time, but not in a fresh clone: there it begins with
 * the largest file, and some of these are the smallest. A name that is missing here costs time and nothing else.
 */
const LONG = [
  'test/cluster/stories.test.ts',
  'test/cluster/real-cluster.test.ts',
  'test/dashboard/real-cluster.test.ts',
  'test/cluster/lent-turns.test.ts',
  'test/agents/sharing-anew.test.ts',
  'src/agent/repair.test.ts',
  'test/crash/crash-equivalence.test.ts',
  'test/agents/sharing-anew-crash.test.ts',
  'test/agents/killed-agents.test.ts',
  'test/agents/faults.test.ts',
  'test/cli/crawl-command.test.ts',
  'test/durability/merged-lines.test.ts',
  'test/agents/several-agents.test.ts',
  'test/agents/checkpoint.test.ts',
  'test/cli/disk-full.test.ts',
  'test/cli/front-door.test.ts',
  'test/crawl/truth.test.ts',
  'src/supervise/reshare.test.ts',
  'src/frontier/level-damage.fuzz.ts',
  'src/cli/crawl.test.ts',
  'test/crawl/traps.test.ts',
  'test/crawl/mixed-web.test.ts',
  'test/cli/package.test.ts',
  'test/crawl/returning.test.ts',
  'test/nasty/nasty-crawl.test.ts',
  'src/agent/checkpoint.test.ts',
  'test/examples.test.ts',
  'test/cli/guard.test.ts',
  'test/replica/making.test.ts',
  'test/cli/crawl-care.test.ts',
  'test/dashboard/real-crawl.test.ts',
  'test/engine/failing-servers.test.ts',
  'test/engine/conformance.test.ts',
]

const TEST_FILE = /\.(?:test|fuzz)\.ts$/
/** What touches more than its own memory and files in folders of its own; or measures time or memory, in which others would be seen. */
const NEEDS_A_PROCESS =
  /node:(?:child_process|cluster|dgram|dns|https?|http2|net|tls|v8|vm|worker_threads)|\/(?:test|testweb)\/|\b(?:vi|process|performance|globalThis)\.|\bgc\(/

/** Test files of the rooms that can share a process, by what they say they use. */
export function filesTogether(root: string): string[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((name) => TEST_FILE.test(name) && !NEEDS_A_PROCESS.test(readFileSync(join(root, name), 'utf8')))
}

/** Long files first, those that share a process last; in between as Vitest has it, which is by time where it knows, or by size. */
export class RunningOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const long = LONG.findIndex((name) => moduleId.endsWith(`/${name}`))
  if (long >= 0) return long
  return project.config.isolate ? LONG.length : LONG.length + 1
}
