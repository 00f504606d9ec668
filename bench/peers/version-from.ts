// What version of a program is installed, by its own words.

import { spawnSync } from 'node:child_process'

/** Null if the program is not there. */
export function versionFrom(command: string, args: readonly string[], form: RegExp): string | null {
  const { status, stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return status === 0 ? (form.exec(stdout)?.[1] ?? 'unknown') : null
}
