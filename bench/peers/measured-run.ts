// One run of a program, and what it took: time, processor, memory, writing.
//
// Bash runs it and waits for it. So its times and its count of bytes written hold all descendants to their last
// moment, by the kernel's books. Memory is not added up by the kernel: the tree is looked at every tenth of a second, and each
// process gives its own peak, so only a peak in the last tenth of a second is missed.

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface Run {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
}

export interface Cost {
  readonly exitCode: number
  /** It was ended because it took longer than allowed. */
  readonly isCutShort: boolean
  readonly wallSeconds: number
  /** User and system time of the whole tree. */
  readonly cpuSeconds: number
  /** Of the tree: peaks of the processes that lived at the same time, added up. */
  readonly peakRssBytes: number
  /** What went to files, as the kernel counts for the disk: whole blocks, once for each time they became dirty. */
  readonly writtenBytes: number
  readonly stdout: string
  /** The last of it. */
  readonly stderr: string
}

const SAMPLE_MS = 100
/** Between asking a program to end and ending it. */
const GRACE_MS = 5_000
const OUTPUT_MAX = 1_000_000
// The trap: when the group is told to end, bash stays to report. The figures have a channel of their own.
const SCRIPT = `trap : TERM
TIMEFORMAT='%U %S %R'
{ time "$@" 2>&4 3>&- 4>&-; } 4>&2 2>&3
code=$?
cat /proc/$$/io >&3
exit $code`

export async function measure({ command, args, cwd, env }: Run, limitSeconds: number): Promise<Cost> {
  const child = spawn('bash', ['-c', SCRIPT, 'bash', command, ...args], {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A group of its own, so that all of it can be told to end.
    detached: true,
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, ...env },
  })
  const pid = child.pid
  if (pid === undefined) throw new Error('bash could not be started')
  const output = { stdout: '', stderr: '', figures: '' }
  const listen = (name: keyof typeof output, stream: NodeJS.ReadableStream | null | undefined): void => {
    stream?.on('data', (chunk: Buffer) => (output[name] = (output[name] + chunk.toString()).slice(-OUTPUT_MAX)))
  }
  listen('stdout', child.stdout)
  listen('stderr', child.stderr)
  listen('figures', child.stdio[3] as NodeJS.ReadableStream)

  let isCutShort = false
  let peakRssBytes = 0
  const sampler = setInterval(() => {
    peakRssBytes = Math.max(peakRssBytes, treePeak(pid))
  }, SAMPLE_MS)
  const end = (signal: NodeJS.Signals): void => {
    isCutShort = true
    process.kill(-pid, signal)
  }
  const limit = setTimeout(() => end('SIGTERM'), limitSeconds * 1_000)
  const lastLimit = setTimeout(() => end('SIGKILL'), limitSeconds * 1_000 + GRACE_MS)
  const exitCode = await new Promise<number>((resolve) => child.on('close', (code) => resolve(code ?? 1)))
  clearInterval(sampler)
  clearTimeout(limit)
  clearTimeout(lastLimit)

  const times = /^([\d.]+) ([\d.]+) ([\d.]+)$/m.exec(output.figures)
  const written = /^write_bytes: (\d+)$/m.exec(output.figures)
  if (times === null || written === null) throw new Error(`${command} gave no figures: ${output.stderr}`)
  return {
    exitCode,
    isCutShort,
    cpuSeconds: Number(times[1]) + Number(times[2]),
    wallSeconds: Number(times[3]),
    peakRssBytes,
    writtenBytes: Number(written[1]),
    stdout: output.stdout,
    stderr: output.stderr,
  }
}

/** The peaks of all processes below this one; it is bash itself and does not count. */
function treePeak(root: number): number {
  let sum = 0
  const waiting = childrenOf(root)
  for (const pid of waiting) {
    sum += Number(/VmHWM:\s+(\d+)/.exec(readOr(`/proc/${pid}/status`))?.[1] ?? 0) * 1_024
    // The list grows while it is walked.
    waiting.push(...childrenOf(pid))
  }
  return sum
}

function childrenOf(pid: number): number[] {
  const text = readOr(`/proc/${pid}/task/${pid}/children`).trim()
  return text === '' ? [] : text.split(' ').map(Number)
}

/** A process may be gone by the time we look. */
function readOr(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
