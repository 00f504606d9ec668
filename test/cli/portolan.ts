// Runs the command as a person would: in a process of its own, through the launcher.

import { type ChildProcess, spawn } from 'node:child_process'
import { join } from 'node:path'

export interface Finished {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

export interface Running {
  readonly child: ChildProcess
  readonly finished: Promise<Finished>
}

/** Says where the product was bundled for this run of the tests (test/built.ts); unset in a bench, which runs what a clone runs. */
export const BUILT_VARIABLE = 'BUILT_FOR_TESTS'
const ROOT = join(import.meta.dirname, '../..')
const launcherIn = (folder: string): string => join(folder, 'bin/portolan.js')
const SOURCES = join(import.meta.dirname, 'from-sources.ts')
export const LAUNCHER = launcherIn(process.env[BUILT_VARIABLE] ?? ROOT)

export interface RunOptions {
  readonly cwd?: string
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Another user than ours, by number: root may write anywhere, which hides mistakes. */
  readonly uid?: number
  /** File by file, as in a clone that was changed since it was bundled. */
  readonly isFromSources?: boolean
}

export function startPortolan(args: readonly string[], options: RunOptions = {}): Running {
  const isFromSources = options.isFromSources === true
  const launcher = isFromSources ? SOURCES : LAUNCHER
  const child = spawn(process.execPath, [launcher, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...(isFromSources ? { PORTOLAN_FROM_SOURCES: '1' } : {}), ...options.environment },
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdin.on('error', () => {})
  child.stdin.end(options.input ?? '')
  const finished = new Promise<Finished>((resolve) => {
    child.on('close', (code, signal) => resolve({ code, signal, stdout, stderr }))
  })
  return { child, finished }
}

export function portolan(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  return startPortolan(args, options).finished
}
