// Runs the command as a person would: in a process of its own, through the launcher.

import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

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

export const LAUNCHER = fileURLToPath(new URL('../../bin/portolan.js', import.meta.url))

export interface RunOptions {
  readonly cwd?: string
  readonly input?: string
  readonly environment?: Readonly<Record<string, string>>
  /** Another user than ours, by number: root may write anywhere, which hides mistakes. */
  readonly uid?: number
}

export function startPortolan(args: readonly string[], options: RunOptions = {}): Running {
  const child = spawn(process.execPath, [LAUNCHER, ...args], {
    cwd: options.cwd,
    env: { ...process.env, ...options.environment },
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
