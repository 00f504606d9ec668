// A server whose system takes no more connections says nothing at all: not even no. A thread that listens and
// then sleeps shows it, once the few places in its queue are taken.

import { connect, type Socket } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, onTestFinished, test } from 'vitest'
import { always, openStand } from '../fetch-stand.ts'

/** More than a queue of one place holds, however the system counts. */
const FILLERS = 8
const IP = '127.126.255.1'

/** Listens, says where, and never looks at its connections. Woken to end. */
const LISTENER = `
const { parentPort, workerData } = require('node:worker_threads')
const server = require('node:net').createServer()
server.listen({ host: '${IP}', port: 0, backlog: 1 }, () => {
  parentPort.postMessage(server.address().port)
  Atomics.wait(workerData, 0, 0)
  process.exit()
})`

test('connect-timeout: a connection that is not made in time fails by its name', async () => {
  const wake = new Int32Array(new SharedArrayBuffer(4))
  const listener = new Worker(LISTENER, { eval: true, workerData: wake })
  const fillers: Socket[] = []
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy()
    Atomics.store(wake, 0, 1)
    Atomics.notify(wake, 0)
    await listener.terminate()
  })
  const port = await new Promise<number>((resolve) => listener.once('message', resolve))
  for (let i = 0; i < FILLERS; i++) fillers.push(connect({ host: IP, port }).on('error', () => undefined))
  await new Promise((resolve) => fillers[0]?.once('connect', resolve))

  await using stand = await openStand(always(''), { connectTimeout: '3s' })
  const outcome = stand.ask('/', { host: IP, port, addresses: [{ ip: IP, family: 4 }] })
  // Time enough to be connected, if it were to be; then there would be no outcome until the head is late.
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  stand.clock.advance(3_000)
  expect(await outcome).toMatchObject({ kind: 'failed', code: 'FETCH_CONNECT_TIMEOUT' })
})
