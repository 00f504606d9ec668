// portolan ui: the dashboard, and the control API behind it, over HTTP on this machine.

import { spawn } from 'node:child_process'
import { access, constants, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { diskFault, Fault } from '../base/index.ts'
import type { Problem } from '../config/index.ts'
import { loadClusterCrawl, loadServer, loadSources } from '../control/index.ts'
import { printable } from '../report/index.ts'
import { loadNodeMark } from '../view/index.ts'
import { clusterFlagShapes, readClusterFlags } from './cluster-flags.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, quote, readOwnArguments, VALUED } from './config-flags.ts'
import type { CommandStreams } from './crawl-directory.ts'
import { crawlStarter } from './crawl-starter.ts'
import { VERSION } from './version.ts'

const FLAGS = new Map([['port', VALUED], ['listen', VALUED], ['open', BARE], ...clusterFlagShapes()])

const PORT_USUAL = 7480
const LISTEN_USUAL = '127.0.0.1'
const PORT_MAX = 65_535

export const uiCommand: Command = {
  usage: 'ui [DIR | --nats URL --crawl NAME] [--port N] [--listen ADDRESS] [--open]',
  examples: [
    { command: 'portolan ui example.org', what: 'one crawl, whether it runs or not' },
    {
      command: 'portolan ui ~/crawls --open',
      what: 'all crawls in the folders of ~/crawls, in your browser; begin more there',
    },
    {
      command: 'portolan ui --nats nats://10.0.0.1:4222 --crawl museums',
      what: 'a crawl of several machines, from any that reaches its engine',
    },
    { command: 'portolan ui --port 0', what: 'the crawls of this directory, on any free port' },
    {
      command: 'ssh -L 7480:localhost:7480 crawler portolan ui /srv/crawls',
      what: 'of another machine, without letting anybody else in',
    },
  ],
  details: () =>
    'Options\n' +
    `  --port N           the port; 0 for any that is free [${PORT_USUAL}]\n` +
    `  --listen ADDRESS   where to listen; everybody who can reach it needs the token, which goes over the wire as it is [${LISTEN_USUAL}]\n` +
    '  --open             open the page in the browser of this machine\n\n' +
    'Prints a link with a token, made anew at every start; it also stands in DIR/state/ui.json, which only you can read.\n' +
    'Crawls that run elsewhere on this machine are steered through their sockets; those that are started from the page\n' +
    'are processes of their own and go on when this ends. Ctrl-C ends it. docs/api.md tells of the API.',
  run: (args) => runUi(args),
}

export interface UiCare {
  /** Ends it; signals of the process unless given. */
  readonly until?: Promise<unknown>
  /** bin/portolan.js, to start crawls with. */
  readonly launcher?: string
  readonly openPage?: (path: string) => void
}

export async function runUi(
  args: readonly string[],
  streams: CommandStreams = process,
  { until, launcher = process.argv[1] ?? '', openPage = openInBrowser }: UiCare = {},
): Promise<number> {
  const { flags, words, problems, value } = readOwnArguments(args, FLAGS)
  const [said, more] = words
  const dir = said ?? '.'
  if (said === '') problems.push({ where: 'DIR', what: 'needs a name' })
  if (more !== undefined) problems.push({ where: quote(more), what: 'one directory at a time' })
  const port = readPort(value('port'), problems)
  const host = readAddress(value('listen'), problems)
  const cluster = readClusterFlags(flags, problems)
  if (cluster !== null && said !== undefined)
    problems.push({ where: 'DIR', what: 'a directory or a cluster, not both' })
  if (problems.length > 0) {
    printProblems('ui', problems, streams.stderr)
    return EXIT.usage.code
  }
  if (cluster === null) await assertFolder(dir)
  const interrupted = until ?? signalled()
  const { DirectorySources, makeToken } = await loadSources()
  const { createServer } = await loadServer()
  const sources =
    cluster === null
      ? await DirectorySources.open(dir, crawlStarter(launcher))
      : await (await loadClusterCrawl()).clusterSources(cluster.settings)
  const token = makeToken()
  const server = await createServer(sources, {
    auth: { token },
    hasDashboard: true,
    version: VERSION,
    onBroken: (cause) => void streams.stderr.write(`portolan ui: ${describeBroken(cause)}\n`),
  })
  let note: TokenNote | null = null
  try {
    const { link, port: bound } = await server.listen(host, port)
    note = await noteToken(cluster === null && sources.isOne ? dir : null, {
      link,
      token,
      port: bound,
      pid: process.pid,
    })
    streams.stderr.write(await greeting(cluster === null ? dir : null, host, sources))
    streams.stdout.write(`${link}\n`)
    if (flags.has('open')) openPage(note.page)
    await interrupted
    return EXIT.ok.code
  } finally {
    await server.close()
    await sources.close()
    await note?.remove()
  }
}

function readPort(text: string | undefined, problems: Problem[]): number {
  if (text === undefined) return PORT_USUAL
  const port = Number(text)
  if (/^\d+$/.test(text) && port <= PORT_MAX) return port
  problems.push({
    where: '--port',
    what: `${quote(text)} is not a port; 1024 to ${PORT_MAX}, or 0 for any that is free`,
  })
  return 0
}

function readAddress(text: string | undefined, problems: Problem[]): string {
  const address = (text ?? LISTEN_USUAL).replace(/^\[(.*)\]$/, '$1')
  if (isIP(address) !== 0 || /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(address)) return address
  problems.push({ where: '--listen', what: `${quote(text ?? '')} is neither an address nor a name of this machine` })
  return LISTEN_USUAL
}

async function assertFolder(dir: string): Promise<void> {
  const found = await stat(dir).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT' || cause.code === 'ENOTDIR') return null
    throw diskFault(`reading ${printable(dir)}`, cause)
  })
  if (found === null) throw new Fault('CONFIG_INVALID', `there is no directory ${printable(dir)}`)
  if (!found.isDirectory()) {
    throw new Fault('CONFIG_INVALID', `${printable(dir)} is a file; name a crawl's directory, or a folder of crawls`)
  }
}

async function greeting(
  dir: string | null,
  host: string,
  sources: { readonly isOne: boolean; list(): Promise<readonly unknown[]> },
): Promise<string> {
  const shown = dir === null ? '' : printable(resolve(dir))
  const mark = dir !== null && sources.isOne ? await loadNodeMark(dir) : null
  const count = (await sources.list()).length
  const what =
    dir === null
      ? 'the crawl of the cluster'
      : sources.isOne
        ? `the crawl in ${shown}${mark === null ? '' : `, the part of node ${mark.node} in crawl ${mark.crawl}`}`
        : count === 0
          ? `${shown}, where no crawl is yet`
          : `${count === 1 ? 'one crawl' : `${count} crawls`} in ${shown}`
  const isOpen = host !== 'localhost' && host !== '::1' && !host.startsWith('127.')
  const warning = isOpen
    ? `Others can reach ${host}: the token goes over the network unencrypted. Prefer ssh -L, or a proxy with TLS.\n`
    : ''
  return `Serving ${what}. Open this link; it holds the token and is not shown again. Ctrl-C ends it.\n${warning}`
}

interface TokenNote {
  /** A page that leads to the dashboard. */
  readonly page: string
  remove(): Promise<void>
}

/** Kept where only its owner can read it: in the crawl's state, or in a directory of its own, also for a crawl that may only be read. */
async function noteToken(
  dir: string | null,
  note: Readonly<Record<string, unknown>> & { readonly link: string },
): Promise<TokenNote> {
  const state = dir === null ? null : join(resolve(dir), 'state')
  const isInState = state !== null && (await isWritable(state))
  const folder = isInState ? state : await mkdtemp(join(tmpdir(), 'portolan-ui-'))
  const json = join(folder, 'ui.json')
  const page = join(folder, 'ui.html')
  const keep = async (path: string, text: string): Promise<void> => {
    // Made anew: what an earlier one left may be readable by others.
    await rm(path, { force: true })
    await writeFile(path, text, { mode: 0o600, flag: 'wx' })
  }
  const text = `${JSON.stringify(note)}\n`
  const remove = async (): Promise<void> => {
    if (!isInState) await rm(folder, { recursive: true, force: true })
    // Another that serves the same crawl, begun later, has left its own here.
    else if ((await readFile(json, 'utf8').catch(() => text)) === text)
      for (const path of [json, page]) await rm(path, { force: true })
  }
  try {
    await keep(json, text)
    // A browser that is told the link itself shows it to everybody in the list of processes.
    await keep(page, `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=${note.link}">\n`)
  } catch (cause) {
    await remove()
    throw diskFault(`writing ${json}`, cause)
  }
  return { page, remove }
}

function isWritable(folder: string): Promise<boolean> {
  return access(folder, constants.W_OK).then(
    () => true,
    (cause: NodeJS.ErrnoException) => !['EACCES', 'EPERM', 'EROFS'].includes(cause.code ?? ''),
  )
}

function openInBrowser(page: string): void {
  const opener = process.platform === 'darwin' ? 'open' : process.platform === 'win32' ? 'explorer' : 'xdg-open'
  // Where there is none, the link is printed all the same.
  spawn(opener, [page], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref()
}

function signalled(): Promise<void> {
  return new Promise((stop) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop())
  })
}

function describeBroken(cause: unknown): string {
  return `a fault of Portolan's, please report it: ${printable(cause instanceof Error ? (cause.stack ?? cause.message) : String(cause))}`
}
