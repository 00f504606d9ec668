// One web, all contenders in turn, again and again: what changes on the machine meanwhile meets all of them.

import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Contender } from './contender.ts'
import { judge, type Verdict } from './judge.ts'
import { measure } from './measured-run.ts'
import { type OriginOptions, startOrigin } from './origin.ts'

export interface Result {
  readonly contender: string
  readonly exitCode: number
  readonly isCutShort: boolean
  readonly seconds: number
  readonly pagesPerSecond: number
  readonly cpuMicrosPerPage: number
  /** Of the server, beside it. */
  readonly serverMicrosPerPage: number
  readonly peakRssMegabytes: number
  /** As the kernel counts what goes to the disk; and what lies there in the end. */
  readonly writtenMegabytes: number
  readonly keptMegabytes: number
  readonly verdict: Verdict
  /** Of the machine, over the last minute: others may be at work. */
  readonly load: number
}

export interface Sitting {
  readonly origin: OriginOptions
  readonly pages: number
  readonly meanBytes: number
  readonly results: readonly Result[]
}

export interface SittingOptions {
  readonly origin: OriginOptions
  readonly contenders: readonly Contender[]
  /** Of those that are not slow. */
  readonly runs: number
  readonly limitSeconds: number
  readonly onResult: (result: Result) => void
}

export async function sit(options: SittingOptions): Promise<Sitting> {
  const origin = await startOrigin(options.origin)
  const results: Result[] = []
  // All of it stays until the end: whoever wrote many files after many had been deleted paid for that in the kernel (wget2 490 µs a
  // page instead of 170, in every second run), likely because ext4 looks at each inode that was just freed before it makes another.
  const folder = mkdtempSync(join(tmpdir(), 'portolan-peers-'))
  try {
    for (let round = 0; round < options.runs; round++) {
      for (const contender of options.contenders) {
        if (contender.isSlow && round > 0) continue
        const dir = mkdtempSync(join(folder, 'peer-'))
        const task = { seedFile: origin.seedFile, dir, authorityFile: origin.authorityFile }
        const serverBefore = origin.cpuSeconds()
        const cost = await measure(contender.run(task), options.limitSeconds)
        const verdict = judge(origin.takeLog(), origin.pages)
        const answers = Math.max(1, verdict.answers)
        const result: Result = {
          contender: contender.name,
          exitCode: cost.exitCode,
          isCutShort: cost.isCutShort,
          seconds: cost.wallSeconds,
          pagesPerSecond: Math.round(verdict.answers / cost.wallSeconds),
          cpuMicrosPerPage: Math.round((cost.cpuSeconds / answers) * 1e6),
          serverMicrosPerPage: Math.round(((origin.cpuSeconds() - serverBefore) / answers) * 1e6),
          peakRssMegabytes: Math.round(cost.peakRssBytes / 1e6),
          writtenMegabytes: Math.round(cost.writtenBytes / 1e5) / 10,
          keptMegabytes: Math.round(bytesBelow(dir) / 1e5) / 10,
          verdict,
          load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
        }
        results.push(result)
        options.onResult(result)
      }
    }
  } finally {
    await origin.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return { origin: options.origin, pages: origin.pages.size, meanBytes: Math.round(origin.meanBytes), results }
}

/** The run of each contender that took least of the processor: noise only ever adds. */
export function bestOf(results: readonly Result[]): Result[] {
  return [...Map.groupBy(results, (one) => one.contender).values()].map((runs) =>
    runs.reduce((a, b) => (a.cpuMicrosPerPage <= b.cpuMicrosPerPage ? a : b)),
  )
}

function bytesBelow(folder: string): number {
  let sum = 0
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) sum += statSync(join(entry.parentPath, entry.name)).size
  }
  return sum
}
