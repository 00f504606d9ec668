import { join } from 'node:path'
import { writeAtomically } from '../disk/index.ts'
import type { CrawlReport } from './crawl-report.ts'
import { renderReport } from './html/render-report.ts'
import { type Findings, summarise } from './summarise.ts'

/** Makes report.html anew from the files of the crawl; the old one stays until the new one is whole. `findings`: as summarise() takes them. */
export async function writeReport(
  dir: string,
  path: string = join(dir, 'report.html'),
  findings: Findings | null = null,
): Promise<{ report: CrawlReport; path: string }> {
  const report = await summarise(dir, findings)
  await writeAtomically(path, renderReport(report))
  return { report, path }
}
