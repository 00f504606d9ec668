// The door of the command line: finds the command, shows help, turns what went wrong into an exit code.

import { Fault } from '../base/index.ts'
import { EXIT, renderHelp } from './command.ts'
import { type CommandEntry, COMMANDS } from './commands.ts'
import { logText } from './log-lines.ts'
import { VERSION } from './version.ts'

function overview(): string {
  const width = Math.max(...COMMANDS.map((command) => command.name.length)) + 2
  const list = COMMANDS.map((command) => `  ${command.name.padEnd(width)}${command.summary}`).join('\n')
  return (
    `portolan ${VERSION}: a web crawler that is polite, fast, and does not forget.\n\n` +
    `Usage\n  portolan COMMAND …\n\nCommands\n${list}\n\n` +
    `'portolan COMMAND --help' explains one with examples. First steps, without a network:\n  portolan demo\n`
  )
}

export async function main(args: string[]): Promise<void> {
  const output = watchOutput()
  const code = await run(args)
  // An output may fail before this or after it: what was said last goes out while nothing else is left to do.
  output.endWith(code)
}

/**
 * Listens to what becomes of our words, so that nobody is shown a stack trace for it. A reader who has had
 * enough (`| head`) or a terminal that was closed is nobody's fault and stops no crawl; a full disk behind
 * standard output means that a result is lost, which must not end as a success.
 */
function watchOutput(): { endWith(code: number): void } {
  let isLost = false
  let code: number = EXIT.ok.code
  const settle = (): void => {
    process.exitCode = isLost && code === EXIT.ok.code ? EXIT.failed.code : code
  }
  const watch = (stream: NodeJS.WriteStream, complain: (why: string) => void): void => {
    stream.on('error', (cause: NodeJS.ErrnoException) => {
      if (cause.code === 'EPIPE' || cause.code === 'EIO') return
      if (!isLost) complain(cause.code ?? cause.message)
      isLost = true
      settle()
    })
  }
  watch(process.stdout, (why) => process.stderr.write(`portolan: standard output cannot be written (${why})\n`))
  watch(process.stderr, () => undefined)
  return {
    endWith: (final) => {
      code = final
      settle()
    },
  }
}

async function run(args: string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === undefined || name === '--help' || name === '-h' || (name === 'help' && rest.length === 0)) {
    process.stdout.write(overview())
    return name === undefined ? EXIT.usage.code : EXIT.ok.code
  }
  if (name === '--version' || name === '-v') {
    process.stdout.write(`${VERSION}\n`)
    return EXIT.ok.code
  }
  const wanted = name === 'help' ? (rest[0] as string) : name
  const command = COMMANDS.find((one) => one.name === wanted)
  if (command === undefined) {
    const { nearest } = await import('../config/index.ts')
    const { printable } = await import('../report/index.ts')
    const meant = nearest(
      wanted,
      COMMANDS.map((one) => one.name),
    )
    const looksLikeUrl = /^https?:\/\//.test(wanted)
    process.stderr.write(
      `portolan: there is no command '${printable(wanted)}'` +
        (looksLikeUrl
          ? `; did you mean 'portolan crawl ${printable(wanted)}'?`
          : meant === null
            ? ''
            : `; did you mean '${meant}'?`) +
        `\n'portolan --help' lists them.\n`,
    )
    return EXIT.usage.code
  }
  const isHelp = name === 'help' || rest.slice(0, endOfFlags(rest)).some((arg) => arg === '--help' || arg === '-h')
  if (isHelp) {
    process.stdout.write(renderHelp(command.summary, await command.load()))
    return EXIT.ok.code
  }
  return runCommand(command, rest)
}

function endOfFlags(args: readonly string[]): number {
  const end = args.indexOf('--')
  return end === -1 ? args.length : end
}

async function runCommand(entry: CommandEntry, args: string[]): Promise<number> {
  try {
    const command = await entry.load()
    return await command.run(args)
  } catch (cause) {
    if (!(cause instanceof Fault)) throw cause
    const { printable } = await import('../report/index.ts')
    logText('fault', `portolan ${entry.name}: ${cause.message.split('\n').map(printable).join('\n')}\n`)
    switch (cause.code) {
      case 'CONFIG_INVALID':
        return EXIT.usage.code
      case 'DISK_FULL':
        return EXIT.diskFull.code
      case 'LEDGER_LOCKED':
        return EXIT.locked.code
      default:
        return EXIT.failed.code
    }
  }
}
