// Does twice as much bring twice as much? Work per visitor from 1 to 300 connections, and work per agent from 1 to 8 agents, with a
// server that answers after 200 ms, so that waiting is what there is to share.
//
//   npm run bench:scaling -- [--connections 1,3,10,30,100,300] [--agents 1,2,4,8] [--per-agent 32] [--latency 200] [--warm-up 5] [--seconds 10] [--json FILE]
//
//    start ───── warm-up ─────┤══════ window ══════├── stopped
//                             requests and CPU time are read at both ends
//
// Requests are counted by the server, CPU time of the crawler by the kernel, so it does not matter how many threads there are.
// A visitor cannot do more than a second's share of the latency: 5 pages a second at 200 ms. Agents are tried as far as --agents
// takes them, each with as many connections as one had. Ends with 1 if work per visitor, or per agent, differs by more than 10 %.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { leastMemory } from '../src/agent/index.ts'
import { agentOptions } from '../src/agent/options.ts'
import { ForkedTestWeb } from '../testweb/index.ts'
import { portolan } from './peers/portolan.ts'
import { versionFrom } from './peers/version-from.ts'

const { values } = parseArgs({
  options: {
    connections: { type: 'string', default: '1,3,10,30,100,300' },
    agents: { type: 'string', default: '1,2,4,8' },
    'per-agent': { type: 'string', default: '32' },
    latency: { type: 'string', default: '200' },
    'warm-up': { type: 'string', default: '5' },
    seconds: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
})
const TICK_SECONDS = 0.01
/** The default of --memory: more than seven agents need more. */
const MEMORY_USUAL = agentOptions.parse({}).memory
const BAR = 0.9
const latencyMs = Number(values.latency)
/** What a visitor does in a second if nobody but the server makes it wait. */
const perVisitorMost = 1_000 / latencyMs

interface Point {
  readonly agents: number
  readonly connections: number
  readonly pagesPerSecond: number
  readonly perVisitor: number
  readonly perAgent: number
  readonly cpuMicrosPerPage: number
  /** Share of one core the crawler used. */
  readonly cpuShare: number
  readonly load: number
}

async function point(agents: number, connections: number): Promise<Point> {
  const seconds = Number(values['warm-up']) + Number(values.seconds)
  // Every visitor needs a host of its own, and nothing may run out: twice what could be fetched.
  const hosts = connections + 16
  const pages = Math.ceil((2 * seconds * perVisitorMost * connections) / hosts) + 1
  const web = await ForkedTestWeb.start({ seed: 'scaling', hosts, pages, latencyMs, logMax: 0 })
  const folder = mkdtempSync(join(tmpdir(), 'portolan-scaling-'))
  let child: ChildProcess | null = null
  try {
    const seedFile = join(folder, 'seeds.txt')
    writeFileSync(seedFile, `${web.web.seeds().join('\n')}\n`)
    const task = { seedFile, dir: join(folder, 'crawl'), authorityFile: null }
    const { command, args } = portolan('none', agents, connections).run(task)
    const memory = Math.max(MEMORY_USUAL, leastMemory(agents))
    child = spawn(command, [...args, '--memory', `${Math.ceil(memory / 2 ** 20)}MiB`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let said = ''
    child.stderr?.on('data', (piece: Buffer) => (said = (said + piece.toString()).slice(-1_000)))
    const ended = new Promise((resolve) => child?.on('exit', resolve))
    while ((await web.figures()).requests === 0) {
      if (child.exitCode !== null) throw new Error(`portolan ended with ${child.exitCode} at once: ${said}`)
      await sleep(50)
    }
    await sleep(Number(values['warm-up']) * 1_000)
    const before = await look(web, child.pid)
    await sleep(Number(values.seconds) * 1_000)
    const after = await look(web, child.pid)
    child.kill('SIGINT')
    await ended
    const asked = after.requests - before.requests
    const windowSeconds = (after.atMs - before.atMs) / 1_000
    const pagesPerSecond = asked / windowSeconds
    const cpuSeconds = after.cpuSeconds - before.cpuSeconds
    return {
      agents,
      connections,
      pagesPerSecond: round(pagesPerSecond, 1),
      perVisitor: round(pagesPerSecond / connections, 3),
      perAgent: round(pagesPerSecond / agents, 1),
      cpuMicrosPerPage: Math.round((cpuSeconds / asked) * 1e6),
      cpuShare: round(cpuSeconds / windowSeconds, 2),
      load: round(loadavg()[0] ?? 0, 1),
    }
  } finally {
    child?.kill('SIGKILL')
    await web.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function look(web: ForkedTestWeb, pid = 0): Promise<{ requests: number; atMs: number; cpuSeconds: number }> {
  const { requests } = await web.figures()
  // After the name, which is in brackets and may hold anything: fields 3 and on. 14 and 15 are user and system time.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return {
    requests,
    atMs: performance.now(),
    cpuSeconds: (Number(fields[11]) + Number(fields[12])) * TICK_SECONDS,
  }
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits))
}

function print(one: Point): void {
  console.log(
    `${String(one.agents).padStart(2)} agents ${String(one.connections).padStart(4)} connections: ${one.pagesPerSecond.toFixed(1).padStart(7)} pages/s, ` +
      `${one.perVisitor.toFixed(2)} a visitor (most: ${perVisitorMost}), ${one.perAgent.toFixed(1)} an agent, ` +
      `${one.cpuMicrosPerPage} µs CPU/page, ${Math.round(one.cpuShare * 100)} % of a core, load ${one.load}`,
  )
}

/** The least as a share of the most. */
function evenness(figures: readonly number[]): number {
  return round(Math.min(...figures) / Math.max(...figures), 3)
}

const isAccepted = (agents: number): boolean => agentOptions.safeParse({ agents }).success
const byConnections: Point[] = []
for (const connections of values.connections.split(',').map(Number)) {
  const one = await point(1, connections)
  byConnections.push(one)
  print(one)
}
const asked = values.agents.split(',').map(Number)
const refused = asked.filter((agents) => !isAccepted(agents))
const byAgents: Point[] = []
// One agent alone says nothing about agents.
for (const agents of refused.length < asked.length - 1 ? asked.filter(isAccepted) : []) {
  const one = await point(agents, agents * Number(values['per-agent']))
  byAgents.push(one)
  print(one)
}
const perVisitor = evenness(byConnections.map((one) => one.perVisitor))
const perAgent = byAgents.length === 0 ? null : evenness(byAgents.map((one) => one.perAgent))
console.log(`work per visitor, least of most: ${perVisitor} (bar ${BAR})${perVisitor < BAR ? ', missed' : ''}`)
if (perAgent === null) console.log(`agents were not compared: --agents does not take ${refused.join(', ')} yet`)
else console.log(`work per agent, least of most: ${perAgent} (bar ${BAR})${perAgent < BAR ? ', missed' : ''}`)
if (perVisitor < BAR || (perAgent !== null && perAgent < BAR)) process.exitCode = 1
if (values.json !== undefined) {
  const about = {
    bench: 'scaling',
    date: new Date().toISOString(),
    machine: `${cpus().length} × ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    commit: versionFrom('git', ['rev-parse', '--short', 'HEAD'], /(\S+)/),
    options: values,
  }
  const figures = { perVisitorLeastOfMost: perVisitor, perAgentLeastOfMost: perAgent, byConnections, byAgents, refused }
  writeFileSync(values.json, `${JSON.stringify({ ...about, ...figures }, null, 1)}\n`)
  console.log(`wrote ${values.json}`)
}
