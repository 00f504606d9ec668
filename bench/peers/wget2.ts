// GNU Wget2, which writes a tree of files.

import { readdirSync } from 'node:fs'
import type { Contender } from './contender.ts'
import { versionFrom } from './version-from.ts'

/** From 2 to 64 were tried. On a crowded machine they do not differ by more than one of them differs from itself. */
const THREADS = 16

export function wget2(threads = THREADS): Contender {
  return {
    name: 'wget2',
    keeps: 'files',
    version: versionFrom('wget2', ['--version'], /Wget2 (\S+)/),
    isSlow: false,
    settings: `--recursive --level=0 --max-threads=${threads} --no-robots --no-hsts --no-ocsp --no-cookies --no-xattr --quiet`,
    run: ({ seedFile, dir, authorityFile }) => ({
      command: 'wget2',
      args: [
        ...['--recursive', '--level=0', '--span-hosts', '--no-robots', '--tries=1', `--max-threads=${threads}`],
        ...['--no-config', '--quiet', '--no-hsts', '--no-ocsp', '--no-cookies', '--no-netrc', '--no-xattr'],
        ...(authorityFile === null ? [] : [`--ca-certificate=${authorityFile}`]),
        ...[`--directory-prefix=${dir}`, `--input-file=${seedFile}`],
      ],
    }),
    countPages: ({ dir }) =>
      readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).length,
  }
}
