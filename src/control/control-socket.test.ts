import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { type ConnectionTaker, ControlSocket } from './control-socket.ts'

async function directory(name = 'crawl'): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'portolan-socket-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, name, 'state'), { recursive: true })
  return join(root, name)
}

function never(fault: unknown): never {
  throw fault
}

/** Answers every request, and says how often it was loaded. */
function takerOf(): { readonly load: () => Promise<ConnectionTaker>; readonly loads: () => number } {
  let loads = 0
  const server = createServer((_, response) => void response.end('here'))
  return {
    load: async () => {
      loads++
      return {
        take: (socket) => void server.emit('connection', socket),
        close: async () => server.closeAllConnections(),
      }
    },
    loads: () => loads,
  }
}

function ask(socketPath: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: '/', agent: false }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.end()
  })
}

test.for(['crawl', 'a-very-long-name-'.repeat(8)])(
  'in %s: found by its note, loaded when somebody knocks, gone in the end',
  async (name) => {
    const dir = await directory(name)
    // Left behind by a process that was killed.
    writeFileSync(join(dir, 'state/control.sock'), '')
    const taker = takerOf()
    const control = await ControlSocket.open(dir, taker.load, never)
    const note = join(dir, 'state/control.json')
    const { socket, pid } = JSON.parse(readFileSync(note, 'utf8')) as { socket: string; pid: number }
    expect(pid).toBe(process.pid)
    expect(Buffer.byteLength(socket)).toBeLessThanOrEqual(100)
    for (const path of [note, socket]) expect(statSync(path).mode & 0o077).toBe(0)
    expect(taker.loads()).toBe(0)
    expect(await Promise.all([ask(socket), ask(socket)])).toEqual(['here', 'here'])
    expect(taker.loads()).toBe(1)
    const idle = connect(socket)
    await new Promise((resolve) => void idle.on('connect', resolve))
    const ended = new Promise((resolve) => void idle.on('close', resolve))
    idle.on('error', () => {})
    await control?.close()
    await ended
    for (const path of [note, socket]) expect(existsSync(path)).toBe(false)
  },
)

test('what cannot be loaded or opened is told, and nothing else happens', async () => {
  const dir = await directory()
  const faults: string[] = []
  const warn = (fault: unknown): void => void faults.push((fault as Error).message)
  const control = await ControlSocket.open(dir, () => Promise.reject(new Error('not built')), warn)
  await expect(ask(control?.path ?? '')).rejects.toThrow()
  await control?.close()
  expect(faults).toEqual(['not built'])
  expect(await ControlSocket.open(join(dir, 'nowhere'), takerOf().load, warn)).toBeNull()
  expect(faults).toHaveLength(2)
})
