// The merged files of a crawl of several agents: read as far as their cursors say, and made anew where they are damaged.

import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bringViewUpToDate, loadCursor } from '../view/index.ts'
import type { PartFinding } from './crawl-inspection.ts'
import { checkFile, sizeIfThere } from './file-check.ts'

const MERGED = ['pages', 'failures'] as const

export async function checkView(dir: string): Promise<PartFinding[]> {
  const findings: PartFinding[] = []
  for (const name of MERGED) {
    const part = `${name}.jsonl`
    const cursor = await loadCursor(cursorPath(dir, name))
    const size = (await sizeIfThere(join(dir, part))) ?? 0
    const finding = { share: null, part, state: 'whole', remedy: '' } as const
    if (cursor === null || size < cursor.length) {
      findings.push({ ...finding, what: 'merged from the shares; the next run makes it anew' })
      continue
    }
    const { what, figures } = await checkFile(join(dir, part), cursor.length, true, null)
    if (what === '') findings.push({ ...finding, what: `merged from the shares: ${figures}` })
    else findings.push({ ...finding, state: 'damaged', what, remedy: 'made anew from the shares; nothing is lost' })
  }
  return findings
}

/** Brings the merged files to what the shares have; damaged ones are moved aside first. */
export async function mendView(dir: string, findings: readonly PartFinding[], aside: string): Promise<void> {
  await mkdir(aside, { recursive: true })
  for (const name of MERGED) {
    const part = `${name}.jsonl`
    if (!findings.some((one) => one.share === null && one.part === part && one.state === 'damaged')) continue
    await rm(cursorPath(dir, name), { force: true })
    await rename(join(dir, part), join(aside, part))
  }
  await bringViewUpToDate(dir)
}

function cursorPath(dir: string, name: string): string {
  return join(dir, `state/${name}.cursor`)
}
