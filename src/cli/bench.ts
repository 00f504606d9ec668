// portolan bench: the benches of the project, one question each, from a clone.

import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Fault } from '../base/index.ts'
import { unknownName } from '../config/index.ts'
import { type Command, EXIT } from './command.ts'
import { printProblems } from './config-flags.ts'

/** A bundle of the sources lies one folder deeper than they do. */
const folder = ['../../bench', '../../../bench']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(path))
/** Files of the folder that measure nothing themselves. */
const NOT_BENCHES: ReadonlySet<string> = new Set(['all', 'corpus', 'synthetic-web'])

function names(): string[] {
  if (folder === undefined) return []
  return readdirSync(folder)
    .filter((file) => file.endsWith('.ts'))
    .map((file) => file.slice(0, -3))
    .filter((name) => !NOT_BENCHES.has(name))
    .sort()
}

export const benchCommand: Command = {
  usage: 'bench [NAME] [its own options]',
  examples: [
    { command: 'portolan bench', what: 'CPU per page from end to end; wget2 beside it where it is installed' },
    { command: 'portolan bench parse', what: 'how fast links are found in real pages' },
  ],
  details: () =>
    `Benches: ${names().join(', ')}. Each says in its first lines what it asks and which options it takes.`,
  run: (args) => bench(args),
}

async function bench(args: readonly string[]): Promise<number> {
  const known = names()
  if (folder === undefined || known.length === 0)
    throw new Fault('CONFIG_INVALID', 'the benches are part of a clone of the project, not of the package')
  const [first] = args
  const isNamed = first !== undefined && !first.startsWith('-')
  const name = isNamed ? first : 'crawl'
  if (!known.includes(name)) {
    printProblems('bench', [unknownName(`'${name}'`, name, known)])
    return EXIT.usage.code
  }
  const child = spawn(process.execPath, [join(folder, `${name}.ts`), ...args.slice(isNamed ? 1 : 0)], {
    stdio: 'inherit',
  })
  return new Promise((resolve) => {
    child.on('close', (code) => resolve(code ?? EXIT.failed.code))
  })
}
