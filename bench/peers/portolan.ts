// Portolan as it is in this clone, with one agent and with as many as it takes by default.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { agentOptions } from '../../src/agent/options.ts'
import type { Contender } from './contender.ts'

const ownLauncher = fileURLToPath(new URL('../../bin/portolan.js', import.meta.url))
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

/** `launcher`: of another clone. */
export function portolan(
  warc: string,
  agents: number | 'default',
  connections?: number,
  launcher: string = ownLauncher,
): Contender {
  const flags = [
    ...['--warc', warc],
    ...(agents === 'default' ? [] : ['--agents', `${agents}`]),
    ...(connections === undefined ? [] : ['--connections', `${connections}`]),
  ]
  return {
    name: `portolan ${flags.join(' ')}`,
    keeps: `WARC${warc === 'none' ? '' : `, ${warc}`}; index, journal, link graph, report`,
    version,
    isSlow: false,
    settings: `${flags.join(' ')} --delay 0ms --robots ignore; one request at a time per host, as always`,
    run: ({ seedFile, dir, authorityFile }) => ({
      command: process.execPath,
      args: [
        ...[launcher, 'crawl', '--seeds', seedFile, '--dir', dir, ...flags],
        ...['--delay', '0ms', '--robots', 'ignore', '--allow-private', '--progress', 'none', '--json'],
        ...(authorityFile === null ? [] : ['--ca-file', authorityFile]),
      ],
    }),
    countPages: (_, { stdout }) => (JSON.parse(stdout) as { pages: number }).pages,
  }
}

/** With one agent, and besides with the default where that is another number. */
export function portolanVariants(): Contender[] {
  const variants = [portolan('none', 1), portolan('gzip', 1)]
  if (agentOptions.parse({}).agents !== 1) variants.push(portolan('none', 'default'), portolan('gzip', 'default'))
  return variants
}
