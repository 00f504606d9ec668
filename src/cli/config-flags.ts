// The flags of a command that takes crawl options, and the printing of what was wrong with them.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type FlagShape, type OptionRow, optionRows, type Problem, SECTIONS } from '../config/index.ts'

/** How the command line writes each option that has a flag. */
export function crawlFlagShapes(): Map<string, FlagShape> {
  const shapes = new Map<string, FlagShape>()
  for (const { facts } of optionRows(SECTIONS)) {
    if (facts.flag === undefined) continue
    shapes.set(facts.flag, { takesValue: facts.kind !== 'yes-no', repeats: facts.kind === 'list' })
  }
  return shapes
}

/** `  --delay DURATION   Least rest of a host … (1s)`, aligned and folded to `width`. */
export function describeFlags(rows: readonly { flag: string; text: string; fallback: string }[], width = 100): string {
  const left = Math.min(34, Math.max(...rows.map((row) => row.flag.length)) + 4)
  return rows
    .map(({ flag, text, fallback }) => {
      const words = `${text}${fallback === '' ? '' : ` [${fallback}]`}`.split(' ')
      const lines: string[] = []
      let line = ''
      for (const word of words) {
        if (line.length + word.length + 1 > width - left) {
          lines.push(line)
          line = word
        } else line = line === '' ? word : `${line} ${word}`
      }
      lines.push(line)
      const head = `  ${flag}`
      const first = head.length >= left ? `${head}\n${' '.repeat(left)}` : head.padEnd(left)
      return first + lines.join(`\n${' '.repeat(left)}`)
    })
    .join('\n')
}

export function flagLine({ facts }: OptionRow): { flag: string; text: string; fallback: string } {
  return {
    flag: `--${facts.flag}${facts.placeholder === undefined ? '' : ` ${facts.placeholder}`}`,
    text: facts.text,
    fallback: facts.defaultText,
  }
}

export function printProblems(command: string, problems: readonly Problem[]): void {
  const lines = problems.map(({ where, what }) => `  ${where}: ${what}\n`).join('')
  process.stderr.write(
    `portolan ${command}: ${problems.length === 1 ? 'there is a problem' : `there are ${problems.length} problems`}\n` +
      `${lines}'portolan ${command} --help' shows what can be said.\n`,
  )
}

/** Reads a configuration file by its ending. A complaint is a problem, not a throw. */
export async function loadConfigFile(
  path: string,
): Promise<{ file: { name: string; content: unknown } | null; problem: Problem | null }> {
  const where = `--config ${path}`
  try {
    if (/\.[cm]?[jt]s$/.test(path)) {
      const module = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown }
      if (module.default === undefined) return { file: null, problem: { where, what: 'has no default export' } }
      return { file: { name: path, content: module.default }, problem: null }
    }
    return { file: { name: path, content: JSON.parse(await readFile(path, 'utf8')) as unknown }, problem: null }
  } catch (cause) {
    return { file: null, problem: { where, what: `cannot be read: ${(cause as Error).message}` } }
  }
}
