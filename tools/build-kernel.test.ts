// A kernel is what its source says: compiled again, it is the same.

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kernelMaker } from '../src/base/index.ts'
import { kernelModule, kernelRooms, modulePath } from './build-kernel.ts'

test.for(kernelRooms())('the compiled kernel of %s is that of its source (npm run kernel compiles it anew)', (room) => {
  expect(readFileSync(modulePath(room), 'utf8')).toBe(kernelModule(room))
})

test.for(kernelRooms())('the kernel of %s is alone: it imports nothing', async (room) => {
  const { KERNEL_BASE64 } = (await import(modulePath(room))) as { KERNEL_BASE64: string }
  // Given nothing, it would not come to life if it needed something.
  expect(kernelMaker(KERNEL_BASE64)().memory.buffer.byteLength).toBeGreaterThanOrEqual(0)
})
