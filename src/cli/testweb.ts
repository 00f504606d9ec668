// `portolan testweb`: serve the synthetic web until told to stop.

import { createWriteStream, type WriteStream } from 'node:fs'
import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { formatRequest, startTestWeb, type TestWeb, type TestWebOptions } from '../../testweb/index.ts'
import { Fault, parseDuration, parseSize } from '../base/index.ts'
import { type Command, EXIT } from './command.ts'

const FLAGS = {
  hosts: { type: 'string' },
  pages: { type: 'string' },
  seed: { type: 'string' },
  port: { type: 'string' },
  'https-port': { type: 'string' },
  https: { type: 'boolean' },
  names: { type: 'boolean' },
  bytes: { type: 'string' },
  links: { type: 'string' },
  branching: { type: 'string' },
  'cross-links': { type: 'string' },
  skewed: { type: 'boolean' },
  'hosts-per-address': { type: 'string' },
  'hosts-per-domain': { type: 'string' },
  faults: { type: 'string' },
  exhibits: { type: 'boolean' },
  traps: { type: 'boolean' },
  latency: { type: 'string' },
  log: { type: 'string' },
  json: { type: 'boolean' },
} as const

type Values = ReturnType<typeof parseArgs<{ options: typeof FLAGS }>>['values']

/** How often the log file gets what is new. */
const LOG_FLUSH_MS = 1_000

export const testwebCommand: Command = {
  name: 'testweb',
  summary: 'Serve a synthetic web on 127.0.0.0/8, to crawl offline.',
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
  --traps                 endless calendars, paths and session ids
  --latency DURATION      every answer begins this much later (0ms)
  --log FILE              every request: start, end, host, IP, connection, scheme, status, path (tabs between)
  --json                  one JSON line when ready, for scripts`,
  run: (args) => runTestweb(args, process),
}

/** What the command needs of the process; a test brings its own. */
export interface TestwebStreams {
  readonly stdout: { write(text: string): unknown }
  readonly pid: number
  on(signal: 'SIGINT' | 'SIGTERM', act: () => void): unknown
  off(signal: 'SIGINT' | 'SIGTERM', act: () => void): unknown
}

export async function runTestweb(args: string[], process: TestwebStreams): Promise<number> {
  const values = parse(args)
  const log = values.log === undefined ? null : createWriteStream(values.log)
  if (log !== null) await opened(log, values.log ?? '')
  const testWeb = await start(values)
  process.stdout.write(values.json === true ? readyLine(testWeb, process.pid) : howToCrawl(testWeb, values))

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
  if (log !== null) {
    flush()
    log.end()
    await once(log, 'close')
  }
  return EXIT.ok.code
}

function parse(args: string[]): Values {
  try {
    return parseArgs({ args, options: FLAGS, strict: true }).values
  } catch (cause) {
    // parseArgs throws for unknown and incomplete options only, with a message made for people.
    throw new Fault('CONFIG_INVALID', cause instanceof Error ? cause.message : String(cause), cause)
  }
}

async function start(values: Values): Promise<TestWeb> {
  const options = toOptions(values)
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

/** All complaints at once. */
function toOptions(values: Values): TestWebOptions {
  const problems: string[] = []
  const number = (flag: keyof Values, text: string | undefined): number | undefined => {
    if (text === undefined) return undefined
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (Number.isNaN(value)) problems.push(`--${flag} '${text}' is not a number`)
    return value
  }
  const unit = (
    flag: keyof Values,
    text: string | undefined,
    read: (text: string) => number | null,
  ): number | undefined => {
    if (text === undefined) return undefined
    const value = read(text)
    if (value === null)
      problems.push(`--${flag} '${text}' needs a number and a unit, like ${flag === 'bytes' ? '14kB' : '20ms'}`)
    return value ?? undefined
  }
  const { faults } = values
  if (faults !== undefined && faults !== 'none' && faults !== 'mild' && faults !== 'all') {
    problems.push(`--faults '${faults}' is none of none, mild, all`)
  }
  const options = {
    seed: values.seed,
    hosts: number('hosts', values.hosts),
    pages: number('pages', values.pages),
    port: number('port', values.port),
    httpsPort: number('https-port', values['https-port']),
    https: values.https,
    naming: values.names === true ? ('names' as const) : undefined,
    hostsPerAddress: number('hosts-per-address', values['hosts-per-address']),
    hostsPerDomain: number('hosts-per-domain', values['hosts-per-domain']),
    hostSizes: values.skewed === true ? ('skewed' as const) : undefined,
    meanBytes: unit('bytes', values.bytes, parseSize),
    linksPerPage: number('links', values.links),
    branching: number('branching', values.branching),
    crossHostShare: number('cross-links', values['cross-links']),
    faults: faults as 'none' | 'mild' | 'all' | undefined,
    exhibits: values.exhibits,
    traps: values.traps,
    latencyMs: unit('latency', values.latency, parseDuration),
  }
  for (const [name, port] of [['port', options.port] as const, ['https-port', options.httpsPort] as const]) {
    if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= 65_535))
      problems.push(`--${name} ${port} is no port`)
  }
  if (problems.length > 0) throw new Fault('CONFIG_INVALID', problems.join('\n'))
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

function readyLine(testWeb: TestWeb, pid: number): string {
  const { port, httpsPort, dns, authority } = testWeb
  return `${JSON.stringify({ port, httpsPort, pid, seeds: testWeb.seeds(), dns: `${dns.address}:${dns.port}`, authority })}\n`
}

function howToCrawl(testWeb: TestWeb, values: Values): string {
  const { web, dns } = testWeb
  const { hosts, pages } = web.options
  const [seed = ''] = testWeb.seeds(1)
  const names = values.names === true ? ` --dns ${dns.address}:${dns.port}` : ''
  const authority = testWeb.authority === null ? '' : `\nTrust this certificate for https:\n\n${testWeb.authority}`
  return `A web of ${hosts} hosts with ${pages} pages each, seed '${web.options.seed}'. From another terminal:

  portolan crawl ${seed} --scope any --allow-private --delay 0ms${names}

DNS: ${dns.address}:${dns.port}. Ctrl-C ends it.
${authority}`
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
