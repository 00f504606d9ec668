// The flags of a command, and the printing of what was wrong with them.

import { access, readFile } from 'node:fs/promises'
import { extname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import {
  type FlagShape,
  flagText,
  jsonComplaint,
  type OptionRow,
  optionRows,
  type Problem,
  readArguments,
  type ReadArguments,
  SECTIONS,
  unknownName,
} from '../config/index.ts'
import { printable } from '../report/index.ts'

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
    flag: flagText(facts),
    text: facts.text,
    fallback: facts.defaultText,
  }
}

export interface OwnArguments extends ReadArguments {
  /** The value of a flag that takes one, if it was given. */
  readonly value: (flag: string) => string | undefined
  /** Also true when only the value was forgotten, which has its own complaint. */
  readonly isSaid: (flag: string) => boolean
}

/** The arguments of a command that has these flags and no others. */
export function readOwnArguments(args: readonly string[], shapes: ReadonlyMap<string, FlagShape>): OwnArguments {
  const { flags, words, problems } = readArguments(args, shapes)
  for (const [flag, value] of flags) {
    const shape = shapes.get(flag)
    if (shape === undefined) problems.push(unknownName(`--${flag}`, flag, shapes.keys(), '--'))
    else if (!shape.takesValue && value !== true) problems.push({ where: `--${flag}`, what: 'takes no value' })
  }
  const value = (flag: string): string | undefined => {
    const given = flags.get(flag)
    return typeof given === 'string' ? given : undefined
  }
  const isSaid = (flag: string): boolean => flags.has(flag) || problems.some(({ where }) => where === `--${flag}`)
  return { flags, words, problems, value, isSaid }
}

/** A flag that stands alone, and one with a value. */
export const BARE: FlagShape = { takesValue: false, repeats: false }
export const VALUED: FlagShape = { takesValue: true, repeats: false }

/** What a person may have typed or pasted, or the web may have said, on one line of bearable length. */
export function shortened(text: string): string {
  const shown = printable(text)
  return shown.length > SHOWN_MAX ? `${shown.slice(0, SHOWN_MAX)}…` : shown
}

export function quote(text: string): string {
  return `'${shortened(text)}'`
}

const SHOWN_MAX = 120

export function printProblems(
  command: string,
  problems: readonly Problem[],
  stderr: { write(text: string): unknown } = process.stderr,
): void {
  const lines = problems.map(({ where, what }) => `  ${printable(where)}: ${printable(what)}\n`).join('')
  stderr.write(
    `portolan ${command}: ${problems.length === 1 ? 'there is a problem' : `there are ${problems.length} problems`}\n` +
      `${lines}'portolan ${command} --help' shows what can be said.\n`,
  )
}

/** Why a file could not be read, in words, with the name the system has for it. */
export function unreadable(cause: unknown): string {
  const errno = (cause as NodeJS.ErrnoException).code
  const words = errno === undefined ? undefined : ERRNO_WORDS[errno]
  if (words !== undefined) return `cannot be read: ${words}`
  return `cannot be read: ${errno ?? (cause instanceof Error ? cause.message : String(cause))}`
}

const ERRNO_WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
}

interface LoadedFile {
  readonly file: { readonly name: string; readonly content: unknown } | null
  readonly problem: Problem | null
}

/** Reads a configuration file by its ending; one without, like /dev/stdin, is JSON. A complaint is a problem, not a throw. */
export async function loadConfigFile(path: string): Promise<LoadedFile> {
  const refuse = (what: string): LoadedFile => ({ file: null, problem: { where: `--config ${path}`, what } })
  const ending = extname(path)
  const isModule = /^\.[cm]?[jt]s$/.test(ending)
  if (!isModule && ending !== '.json' && ending !== '') {
    return refuse(`a file that ends in ${ending} is not understood; only .json, .ts and .js are`)
  }
  try {
    if (isModule) {
      await access(path)
      const module = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown }
      if (module.default === undefined) return refuse('has no default export')
      return { file: { name: path, content: module.default }, problem: null }
    }
    const text = (await readFile(path, 'utf8')).replace(/^\uFEFF/, '')
    const complaint = jsonComplaint(text)
    if (complaint !== null) return refuse(complaint)
    return { file: { name: path, content: JSON.parse(text) as unknown }, problem: null }
  } catch (cause) {
    // What a module throws says more by its message than by its code.
    const isSystem = cause instanceof Error && 'syscall' in cause
    return refuse(isModule && !isSystem ? `cannot be run: ${String(cause).split('\n')[0]}` : unreadable(cause))
  }
}
