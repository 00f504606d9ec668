import { join } from 'node:path'
import { writeAtomically } from '../disk/index.ts'
import type { CrawlReport } from './crawl-report.ts'
import { renderReport } from './html/render-report.ts'
import { summarise } from './summarise.ts'

/** Makes report.html anew from the files of the crawl; the old one stays until the new one is whole. */
export async function writeReport(
  dir: string,
  path: string = join(dir, 'report.html'),
): Promise<{ report: CrawlReport; path: string }> {
  const report = await summarise(dir)
  await writeAtomically(path, renderReport(report))
  return { report, path }
}
