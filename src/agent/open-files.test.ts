// The system's limit of open files bounds the connections, and whoever asked for more is told.

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openFilesAllowed, parseOpenFiles, planSockets, socketsAllowed } from './open-files.ts'

const limitsWith = (openFiles: string): string =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             96343                96343                processes ',
    openFiles,
    'Max locked memory         8388608              8388608              bytes     ',
    '',
  ].join('\n')

test.each([
  ['Max open files            1024                 524288               files     ', 1_024],
  ['Max open files            20000                20000                files     ', 20_000],
  ['Max open files            unlimited            unlimited            files     ', Infinity],
  ['Max open files            some                 20000                files     ', null],
  ['Max open sockets          7                    20000                files     ', null],
])('%s', (line, openFiles) => {
  expect(parseOpenFiles(limitsWith(line))).toBe(openFiles)
})

test('an empty text says nothing', () => {
  expect(parseOpenFiles('')).toBe(null)
})

test('this process may have some, and where nobody says there is an assumption', () => {
  expect(openFilesAllowed()).toBeGreaterThan(0)
  expect(openFilesAllowed('/no/such/file')).toBe(8_192)
})

test('sockets leave room for files, and there is always one', () => {
  expect(socketsAllowed(1_024)).toBe(793)
  expect(socketsAllowed(20_000)).toBe(17_872)
  expect(socketsAllowed(64)).toBe(1)
  expect(socketsAllowed(Infinity)).toBe(Infinity)
})

test('what is asked for and can be had is used without a word', () => {
  expect(planSockets(256, 1_024, 20_000)).toEqual({ connections: 256, connectionsKept: 1_024, warning: null })
  expect(planSockets(100_000, 1_024, Infinity)).toMatchObject({ connections: 100_000, warning: null })
})

test('too many are cut, and the warning says how to have them', () => {
  expect(planSockets(100_000, 1_024, 20_000)).toEqual({
    connections: 17_872,
    connectionsKept: 1_024,
    warning:
      '--connections 100000 needs more open files than the 20000 this process may have: 17872 are used. ' +
      'Raise the limit (ulimit -n 111254) for more.',
  })
  // Keeping fewer idle connections than the default is nothing anyone needs to be told.
  expect(planSockets(256, 1_024, 1_024)).toEqual({ connections: 256, connectionsKept: 793, warning: null })
})

test('whoever follows the warning has what was asked for', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.integer({ min: 1, max: 30_000 }), (connections, openFiles) => {
      const { connections: had, warning } = planSockets(connections, 1, openFiles)
      expect(warning === null).toBe(had === connections)
      const advised = Number(/ulimit -n (\d+)/.exec(warning ?? '')?.[1] ?? openFiles)
      expect(planSockets(connections, 1, advised)).toMatchObject({ connections, warning: null })
    }),
  )
})
