// `portolan testweb`: serve the synthetic web until told to stop.

import { createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatRequest, startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { Fault, parseDuration, parseSize } from '../base/index.ts'
import { formatNumberOf } from '../report/index.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, type OwnArguments, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'

const FLAGS = new Map([
  ['hosts', VALUED],
  ['pages', VALUED],
  ['seed', VALUED],
  ['port', VALUED],
  ['https-port', VALUED],
  ['https', BARE],
  ['names', BARE],
  ['bytes', VALUED],
  ['links', VALUED],
  ['branching', VALUED],
  ['cross-links', VALUED],
  ['skewed', BARE],
  ['hosts-per-address', VALUED],
  ['hosts-per-domain', VALUED],
  ['faults', VALUED],
  ['exhibits', BARE],
  ['traps', BARE],
  ['nasty', BARE],
  ['misbehaving', VALUED],
  ['latency', VALUED],
  ['log', VALUED],
  ['json', BARE],
])

const FAULTS = ['none', 'mild', 'all'] as const
const PORT_MAX = 65_535

/** How often the log file gets what is new. */
const LOG_FLUSH_MS = 1_000

export const testwebCommand: Command = {
  usage: 'testweb [--hosts N] [--pages N] [--seed S] [--port P] [--faults none|mild|all] …',
  examples: [
    { command: 'portolan testweb', what: '8 hosts of 100 pages each; it says how to crawl them' },
    {
      command: 'portolan testweb --hosts 64 --pages 10000 --port 8080 --log requests.tsv',
      what: 'a large one on a port of your choice, with every request in a file',
    },
    {
      command: 'portolan testweb --names --https --faults all --exhibits',
      what: 'hosts by name, with their own DNS server and certificates, and everything that can go wrong',
    },
  ],
  details: () =>
    `Options
  --hosts N               hosts (8)
  --pages N               pages of each host (100)
  --seed S                another seed is another web (portolan)
  --port P, --https-port P  0 lets the system choose (0)
  --https                 odd hosts are at home on https
  --names                 hosts have names; use the DNS server that is printed
  --hosts-per-address N   named hosts behind one IP address (1)
  --hosts-per-domain N    named hosts of one registrable domain (4)
  --skewed                hosts of very different sizes instead of equal ones
  --bytes SIZE            mean size of a page (14kB)
  --links N               links on a page (35)
  --branching N           children of a page in the tree of its host (8)
  --cross-links X         share of links to other hosts (0.15)
  --faults none|mild|all  redirects, errors, charsets, robots.txt …; all has those that cost waiting, too (none)
  --exhibits              roots link to one page of each kind, under /_/
  --traps                 endless calendars, paths, session ids, soft 404s, facets, floods, and subdomains with --names
  --nasty                 beside the web, a host for every way to answer badly: broken heads, bombs, resets, bad TLS …
  --misbehaving X         share of hosts that drip, reset, send bombs, fail and lead in circles in turn (0)
  --latency DURATION      every answer begins this much later (0ms)
  --log FILE              every request: start, end, host, IP, connection, scheme, status, path (tabs between)
  --json                  one JSON line when ready, for scripts`,
  run: (args) => runTestweb(args, process),
}

/** What the command needs of the process; a test brings its own. */
export interface TestwebStreams {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
  readonly pid: number
  on(signal: 'SIGINT' | 'SIGTERM', act: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM', act: () => void): unknown
}

export async function runTestweb(args: string[], process: TestwebStreams): Promise<number> {
  const given = readOwnArguments(args, FLAGS)
  const options = readOptions(given)
  if (given.problems.length > 0) {
    printProblems('testweb', given.problems, process.stderr)
    return EXIT.usage.code
  }
  const logPath = given.value('log')
  const log = logPath === undefined ? null : createWriteStream(logPath)
  if (log !== null) await opened(log, logPath ?? '')
  const testWeb = await start(options)
  const folder = testWeb.authority === null ? null : await mkdtemp(join(tmpdir(), 'portolan-testweb-'))
  const caFile = folder === null ? null : join(folder, 'ca.pem')
  if (caFile !== null) await writeFile(caFile, testWeb.authority ?? '')
  const command = crawlCommandOf(testWeb, given.flags.has('names'), caFile)
  process.stdout.write(
    given.flags.has('json') ? readyLine(testWeb, process.pid, caFile, command) : howToCrawl(testWeb, command),
  )

  let written = 0
  const flush = (): void => {
    let text = ''
    for (const request of testWeb.log.requests(written)) {
      // Requests end out of order; those behind an unfinished one wait for the next time.
      if (!Number.isFinite(request.endMs)) break
      text += formatRequest(request)
      written++
    }
    if (text !== '') log?.write(text)
  }
  const timer = log === null ? null : setInterval(flush, LOG_FLUSH_MS)
  await new Promise<void>((resolve) => {
    const end = (): void => {
      process.off('SIGINT', end)
      process.off('SIGTERM', end)
      resolve()
    }
    process.on('SIGINT', end)
    process.on('SIGTERM', end)
  })
  if (timer !== null) clearInterval(timer)
  await testWeb.stop()
  if (folder !== null) await rm(folder, { recursive: true, force: true })
  if (log !== null) {
    flush()
    log.end()
    await once(log, 'close')
  }
  return EXIT.ok.code
}

async function start(options: TestWebOptions): Promise<TestWeb> {
  try {
    return await startTestWeb(options)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EADDRINUSE' || code === 'EACCES') {
      throw new Fault(
        'CONFIG_INVALID',
        `port ${options.port ?? 0} cannot be had (${code}); choose another --port, or none`,
        cause,
      )
    }
    throw cause
  }
}

/** Adds every complaint to the problems of `given`. */
function readOptions({ flags, words, problems, value }: OwnArguments): TestWebOptions {
  for (const word of words) problems.push({ where: quote(word), what: 'testweb takes no such argument' })
  const complain = (flag: string, what: string): undefined => {
    problems.push({ where: `--${flag}`, what: `${quote(value(flag) ?? '')} ${what}` })
    return undefined
  }
  const number = (flag: string): number | undefined => {
    const text = value(flag)
    return text === undefined ? undefined : text.trim() === '' ? Number.NaN : Number(text)
  }
  const whole = (flag: string, min: number, max = Infinity): number | undefined => {
    const count = number(flag)
    if (count === undefined || (Number.isInteger(count) && count >= min && count <= max)) return count
    return complain(flag, `is not a whole number ${max === Infinity ? `from ${min}` : `from ${min} to ${max}`}`)
  }
  const share = number('cross-links')
  if (share !== undefined && !(share >= 0 && share <= 1)) complain('cross-links', 'is not a number from 0 to 1')
  const misbehaving = number('misbehaving')
  if (misbehaving !== undefined && !(misbehaving >= 0 && misbehaving <= 1)) {
    complain('misbehaving', 'is not a number from 0 to 1')
  }
  const unit = (flag: string, read: (text: string) => number | null, example: string): number | undefined => {
    const text = value(flag)
    if (text === undefined) return undefined
    return read(text) ?? complain(flag, `needs a number and a unit, like ${example}`)
  }
  const faults = FAULTS.find((one) => one === value('faults'))
  if (value('faults') !== undefined && faults === undefined) complain('faults', `is not one of ${FAULTS.join(', ')}`)
  const options = {
    seed: value('seed'),
    hosts: whole('hosts', 1),
    pages: whole('pages', 1),
    port: whole('port', 0, PORT_MAX),
    httpsPort: whole('https-port', 0, PORT_MAX),
    https: flags.has('https') || undefined,
    naming: flags.has('names') ? ('names' as const) : undefined,
    hostsPerAddress: whole('hosts-per-address', 1),
    hostsPerDomain: whole('hosts-per-domain', 1),
    hostSizes: flags.has('skewed') ? ('skewed' as const) : undefined,
    meanBytes: unit('bytes', parseSize, '14kB'),
    linksPerPage: whole('links', 0),
    branching: whole('branching', 1),
    crossHostShare: share,
    misbehaving,
    faults,
    exhibits: flags.has('exhibits') || undefined,
    traps: flags.has('traps') || undefined,
    nasty: flags.has('nasty') || undefined,
    latencyMs: unit('latency', parseDuration, '20ms'),
  }
  return Object.fromEntries(Object.entries(options).filter(([, one]) => one !== undefined))
}

/** What can be pasted into another terminal. */
function crawlCommandOf(testWeb: TestWeb, hasNames: boolean, caFile: string | null): string {
  const [seed = ''] = testWeb.seeds(1)
  const names = hasNames ? ` --dns ${testWeb.dns.address}:${testWeb.dns.port}` : ''
  // The folder for temporary files may have a blank in its name.
  const trust = caFile === null ? '' : ` --ca-file ${/^[\w/.:-]+$/.test(caFile) ? caFile : `'${caFile}'`}`
  return `portolan crawl ${seed} --scope any --allow-private --delay 0ms${names}${trust}`
}

function readyLine(testWeb: TestWeb, pid: number, caFile: string | null, command: string): string {
  const { port, httpsPort, dns, authority, nasty } = testWeb
  const ready = {
    port,
    httpsPort,
    pid,
    seeds: testWeb.seeds(),
    dns: `${dns.address}:${dns.port}`,
    authority,
    caFile,
    command,
  }
  const nastyHosts = nasty?.names.map((name) => [name, nasty.url(name)])
  return `${JSON.stringify({ ...ready, ...(nastyHosts && { nasty: Object.fromEntries(nastyHosts) }) })}\n`
}

function howToCrawl(testWeb: TestWeb, command: string): string {
  const { web, dns, nasty } = testWeb
  const { hosts, pages } = web.options
  const nastyHosts =
    nasty === null
      ? ''
      : `\n${formatNumberOf(nasty.names.length, 'nasty host')}: ${nasty.root} lists them, and is crawled the same way\n`
  return `A web of ${formatNumberOf(hosts, 'host')} with ${formatNumberOf(pages, 'page')} each, seed '${web.options.seed}'. From another terminal:

  ${command}
${nastyHosts}
DNS: ${dns.address}:${dns.port}. Ctrl-C ends it.
`
}

async function opened(log: WriteStream, path: string): Promise<void> {
  try {
    await once(log, 'open')
  } catch (cause) {
    throw new Fault(
      'CONFIG_INVALID',
      `--log ${path}: cannot be written (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`,
      cause,
    )
  }
}
