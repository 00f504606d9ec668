import { benchCommand } from './bench.ts'
import { checkpointCommand } from './checkpoint.ts'
import type { Command } from './command.ts'
import { crawlCommand } from './crawl.ts'
import { demoCommand } from './demo.ts'
import { explainCommand } from './explain.ts'
import { linksLens } from './links-lens.ts'
import { repairCommand } from './repair.ts'
import { reportCommand } from './report.ts'
import { requeueCommand } from './requeue.ts'
import { robotsLens } from './robots-lens.ts'
import { skippedCommand } from './skipped.ts'
import { statusCommand } from './status.ts'
import { testwebCommand } from './testweb.ts'
import { urlLens } from './url-lens.ts'

/** In the order of the list. */
export const COMMANDS: readonly Command[] = [
  crawlCommand,
  demoCommand,
  statusCommand,
  reportCommand,
  explainCommand,
  skippedCommand,
  requeueCommand,
  checkpointCommand,
  repairCommand,
  urlLens,
  linksLens,
  robotsLens,
  testwebCommand,
  benchCommand,
]
