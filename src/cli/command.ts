// What every command has: a help that teaches by example, and its work. Names and summaries are in commands.ts.

export interface Example {
  readonly command: string
  readonly what: string
}

export interface Command {
  /** The synopsis, without `portolan`. */
  readonly usage: string
  readonly examples: readonly Example[]
  /** More help: options and notes, ready to print. */
  details(): string
  /** Returns the exit code. */
  run(args: string[]): Promise<number>
}

/** Exit codes are a contract; docs/errors.md is written from this table. */
export const EXIT = {
  ok: { code: 0, text: 'finished, or a limit was reached' },
  failed: {
    code: 1,
    text: 'a fault of our own ended the crawl, a lens refused one of its arguments, the state of the crawl is damaged, or the output could not be written',
  },
  usage: { code: 2, text: 'arguments or configuration are wrong; nothing was started' },
  interrupted: { code: 3, text: 'stopped by a signal, or from the dashboard or the cluster; the same command goes on' },
  noPage: { code: 4, text: 'no seed yielded a page' },
  diskFull: { code: 5, text: 'the disk is full; the same command goes on when there is room' },
  locked: { code: 6, text: 'another process is working in the directory' },
  unshipped: {
    code: 7,
    text: 'the crawl is done, but not all of its archive is at --archive-to; the same command goes on with that',
  },
} as const

export function renderHelp(summary: string, command: Command): string {
  const examples = command.examples.map(({ command: line, what }) => `  ${line}\n      ${what}`).join('\n')
  const details = command.details()
  return (
    `${summary}\n\nUsage\n  portolan ${command.usage}\n\nExamples\n${examples}\n` +
    (details === '' ? '' : `\n${details}\n`)
  )
}
