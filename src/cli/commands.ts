import { benchCommand } from './bench.ts'
import type { Command } from './command.ts'
import { crawlCommand } from './crawl.ts'
import { demoCommand } from './demo.ts'
import { explainCommand } from './explain.ts'
import { linksLens } from './links-lens.ts'
import { reportCommand } from './report.ts'
import { robotsLens } from './robots-lens.ts'
import { testwebCommand } from './testweb.ts'
import { urlLens } from './url-lens.ts'

/** In the order of the list. */
export const COMMANDS: readonly Command[] = [
  crawlCommand,
  demoCommand,
  reportCommand,
  explainCommand,
  urlLens,
  linksLens,
  robotsLens,
  testwebCommand,
  benchCommand,
]
