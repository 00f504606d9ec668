// Programs that are no npm packages: whether they are here, and how to get them on Debian.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, isAbsolute, join } from 'node:path'

export interface Need {
  /** A program, or the whole path of something else. */
  readonly command: string
  /** Debian packages that hold it. */
  readonly packages: readonly string[]
  readonly why: string
}

/** System folders count too: a user's PATH often lacks /usr/sbin. */
export function isPresent(command: string): boolean {
  if (isAbsolute(command)) return existsSync(command)
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.some((folder) => folder !== '' && existsSync(join(folder, command)))
}

/** One line for people. */
export function describeNeed({ command, packages, why }: Need): string {
  return `${command} (Debian: ${packages.join(' ')}): ${why}`
}

/** Only root may, and only where there is apt-get. */
export function canInstall(): boolean {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
}

/** Says what it installs, and whether that went well. */
export function install(packages: readonly string[]): boolean {
  console.log(`Installing ${packages.join(' ')}`)
  const attempt = (): boolean => run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages])
  return attempt() || (run('apt-get', ['update', '-qq']) && attempt())
}

function run(command: string, args: readonly string[]): boolean {
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return status === 0
}
