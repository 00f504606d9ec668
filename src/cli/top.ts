// portolan top: a crawl as it goes, in the terminal. Asked of the process that runs it, of its files where nobody does, or of a cluster
// through its engine.

import { setTimeout as sleep } from 'node:timers/promises'
import { crawlIdOf, type CrawlSource, loadClusterCrawl, loadDirectoryCrawl } from '../control/index.ts'
import { loadNodeMark } from '../view/index.ts'
import { clusterFlagShapes, readClusterFlags } from './cluster-flags.ts'
import { type Command, EXIT } from './command.ts'
import { BARE, printProblems, readOwnArguments } from './config-flags.ts'
import { assertCrawl, type CommandStreams, oneDirectory } from './crawl-directory.ts'
import { ASKER, earlierRates, lookAt, refusalOf, STILL_READ, type TopLook } from './top-look.ts'
import { renderTop, type TopView } from './top-screen.ts'

const OWN_FLAGS = new Map([
  ['once', BARE],
  ['json', BARE],
])

export const topCommand: Command = {
  usage: 'top DIR | --nats URL --crawl NAME [--once] [--json]',
  examples: [
    { command: 'portolan top example.org', what: 'live: figures, what is slow, hosts, agents; keys steer it' },
    { command: 'portolan top --nats nats://10.0.0.1:4222 --crawl museums', what: 'a crawl of several machines' },
    { command: 'portolan top example.org --once', what: 'one picture, also where there is no terminal' },
    { command: 'portolan top example.org --json', what: 'the same as one JSON object, with the names of the API' },
  ],
  details: () =>
    'Keys\n' +
    '  q quit   h hosts   a agents   n nodes   o overview   p pause, or go on   + faster   - slower\n\n' +
    'Asks the process that runs the crawl, through its socket; where nobody runs it, reads its files.',
  run: (args) => runTop(args),
}

/** The terminal, or what stands for it. */
export interface TopTerminal extends CommandStreams {
  readonly columns: number
  readonly rows: number
  /** Null where there is none to draw on. */
  readonly keys: ((hear: (key: string) => void) => () => void) | null
  readonly onResize: (hear: () => void) => () => void
}

export async function runTop(args: readonly string[], terminal: TopTerminal = processTerminal()): Promise<number> {
  const { flags, words, problems } = readOwnArguments(args, new Map([...OWN_FLAGS, ...clusterFlagShapes()]))
  const cluster = readClusterFlags(flags, problems)
  const isCluster = cluster !== null || problems.some(({ where }) => /^--(?:nats|crawl)/.test(where))
  if (isCluster && words.length > 0) problems.push({ where: 'DIR', what: 'a directory or a cluster, not both' })
  const dir = isCluster ? undefined : oneDirectory(words, problems)
  if (problems.length > 0) {
    printProblems('top', problems, terminal.stderr)
    return EXIT.usage.code
  }
  const source =
    cluster === null
      ? await openDirectory(dir ?? '')
      : await (await loadClusterCrawl()).ClusterCrawl.open(cluster.settings)
  try {
    if (flags.has('json')) {
      const { info, ...rest } = await lookOnce(source)
      terminal.stdout.write(`${JSON.stringify({ crawl: info, ...rest })}\n`)
    } else if (flags.has('once') || terminal.keys === null) terminal.stdout.write(await onePicture(source, terminal))
    else await new LiveTop(source, terminal, terminal.keys).run()
    return EXIT.ok.code
  } finally {
    await source.close()
  }
}

type Source = CrawlSource & { close(): Promise<void> }

async function openDirectory(dir: string): Promise<Source> {
  // While a node works, its part of the crawl is not in one place; its process knows.
  if ((await loadNodeMark(dir)) === null) await assertCrawl(dir)
  const { directoryCrawl } = await loadDirectoryCrawl()
  return directoryCrawl({ id: crawlIdOf(dir), dir, start: null, preview: null })
}

const HOSTS_ONCE = 10
/** One look shows all there is, or says that hosts are still being read. */
const LOOKS_ONCE_MAX = 6
/** Figures above, keys below, and the heads of two tables. */
const ROWS_AROUND_HOSTS = 16
const RATES_MAX = 240
const LOOK_EVERY_MS = 1_000
/** What + and - do to the rate. */
const STEP = 1.5
const RATE_MIN = 0.1

/** Whoever looks at a cluster knows how fast it is after a second look; hosts may need some more. */
async function lookOnce(source: Source): Promise<TopLook> {
  const { info } = await lookAt(source, 0)
  if (info.cluster !== null && info.now !== null) await sleep(LOOK_EVERY_MS)
  for (let looks = 1; ; looks++) {
    const look = await lookAt(source, HOSTS_ONCE)
    if (look.hostsTrouble !== STILL_READ || looks === LOOKS_ONCE_MAX) return look
    await sleep(LOOK_EVERY_MS)
  }
}

async function onePicture(source: Source, { columns }: TopTerminal): Promise<string> {
  const rates = await earlierRates(source, RATES_MAX)
  const look = await lookOnce(source)
  const screen = { columns, rows: Infinity, isColoured: false, rates, message: '' }
  const overview = renderTop(look, { ...screen, view: 'overview' })
  const hosts = renderTop(look, { ...screen, view: 'hosts' }).slice(overview.indexOf('', 2) + 1)
  return `${[...overview, '', ...hosts].join('\n')}\n`
}

class LiveTop {
  readonly #source: Source
  readonly #terminal: TopTerminal
  readonly #keys: NonNullable<TopTerminal['keys']>
  #view: TopView = 'overview'
  #look: TopLook | null = null
  #rates: number[] = []
  #message = ''
  #quit: () => void = () => {}
  /** The screen is ours. */
  #isShown = false
  #isLooking = false

  constructor(source: Source, terminal: TopTerminal, keys: NonNullable<TopTerminal['keys']>) {
    this.#source = source
    this.#terminal = terminal
    this.#keys = keys
  }

  async run(): Promise<void> {
    const { stdout, onResize } = this.#terminal
    const quit = new Promise<void>((resolve) => (this.#quit = resolve))
    this.#rates = await earlierRates(this.#source, RATES_MAX)
    await this.#refresh()
    // Another screen, so that what stood here is there again afterwards.
    stdout.write('\x1b[?1049h\x1b[?25l')
    this.#isShown = true
    const stops = [this.#keys((key) => void this.#hear(key)), onResize(() => this.#paint())]
    const timer = setInterval(() => void this.#refresh(), LOOK_EVERY_MS)
    try {
      this.#paint()
      await quit
    } finally {
      this.#isShown = false
      clearInterval(timer)
      for (const stop of stops) stop()
      stdout.write('\x1b[?25h\x1b[?1049l')
    }
  }

  async #refresh(): Promise<void> {
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const look = await lookAt(
        this.#source,
        this.#view === 'hosts' ? Math.max(3, Math.floor((this.#terminal.rows - ROWS_AROUND_HOSTS) / 2)) : 0,
      )
      this.#look = look
      if (look.info.now !== null) this.#rates = [...this.#rates, look.info.now.pagesPerSecond].slice(-RATES_MAX)
    } catch (fault) {
      // Being opened anew, or ended this moment: the next look tells. The first must come to something.
      if (this.#look === null) throw fault
      if (this.#isShown) this.#message = refusalOf(fault)
    } finally {
      this.#isLooking = false
    }
    this.#paint()
  }

  async #hear(key: string): Promise<void> {
    this.#message = ''
    const view = ({ h: 'hosts', a: 'agents', n: 'nodes', o: 'overview' } as const)[key]
    if (view !== undefined) {
      this.#view = view
      this.#paint()
      return this.#refresh()
    }
    if (key === 'q' || key === '\x03' || key === '\x1b') return this.#quit()
    try {
      if (key === 'p') this.#message = await this.#pause()
      else if (key === '+' || key === '=') this.#message = await this.#faster(STEP)
      else if (key === '-') this.#message = await this.#faster(1 / STEP)
      else return
    } catch (fault) {
      this.#message = refusalOf(fault)
    }
    this.#paint()
  }

  async #pause(): Promise<string> {
    const isPaused = this.#look?.info.state === 'paused'
    const { text } = await (isPaused ? this.#source.resume({}, ASKER) : this.#source.pause({}, ASKER))
    return text
  }

  /** From the limit there is; where there is none, slower means slower than it is. */
  async #faster(factor: number): Promise<string> {
    const limits = this.#look?.agents.map(({ speed }) => speed.ratePerSecond) ?? []
    const isLimited = limits.length > 0 && limits.every((limit) => limit !== null)
    if (!isLimited && factor > 1) return 'It has no limit of requests per second.'
    const now = isLimited
      ? limits.reduce((sum: number, limit) => sum + (limit ?? 0), 0)
      : (this.#look?.info.now?.pagesPerSecond ?? 0)
    const ratePerSecond = Math.max(RATE_MIN, Number((now * factor).toPrecision(2)))
    const { text } = await this.#source.speed({ ratePerSecond }, ASKER)
    return `${ratePerSecond} requests per second at most. ${text}`
  }

  #paint(): void {
    if (this.#look === null || !this.#isShown) return
    const { columns, rows, stdout } = this.#terminal
    const lines = renderTop(this.#look, {
      columns,
      rows,
      isColoured: true,
      view: this.#view,
      rates: this.#rates,
      message: this.#message,
    })
    // In one write, each line clearing its own tail, so that nothing flickers.
    stdout.write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\r\n')}\x1b[J`)
  }
}

function processTerminal(): TopTerminal {
  const { stdin, stdout } = process
  const isLive = stdin.isTTY && stdout.isTTY
  return {
    stdout,
    stderr: process.stderr,
    get columns() {
      return stdout.columns ?? 100
    },
    get rows() {
      return stdout.rows ?? 24
    },
    keys: !isLive
      ? null
      : (hear) => {
          const onData = (bytes: Buffer): void => hear(bytes.toString())
          const end = (): void => hear('q')
          stdin.setRawMode(true).resume().on('data', onData)
          process.on('SIGTERM', end)
          return () => {
            process.off('SIGTERM', end)
            stdin.off('data', onData).setRawMode(false).pause()
          }
        },
    onResize: (hear) => {
      stdout.on('resize', hear)
      return () => void stdout.off('resize', hear)
    },
  }
}
