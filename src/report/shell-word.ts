import { printable } from './printable.ts'

/** A directory in a command that can be pasted into a shell. */
export function shellWord(text: string): string {
  const shown = printable(text)
  return /^[\w@%+=:,./-]+$/.test(shown) ? shown : `'${shown.replaceAll("'", `'\\''`)}'`
}
