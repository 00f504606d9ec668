// Compiled code is run as it lies there: it is kept only where nobody else can put any.

import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
// @ts-expect-error Plain JavaScript, so that any Node can read it.
import { privateDirectory as untyped } from '../../bin/compile-cache.js'
import { portolan } from '../cli/portolan.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'

const privateDirectory = untyped as (base: string, name: string) => string | null
const isRoot = process.getuid?.() === 0

describe('the folder for compiled code', () => {
  test('is made for us alone, and found again', () => {
    const base = temporaryDirectory(onTestFinished)
    const own = privateDirectory(base, 'x')
    expect(own).toBe(join(base, 'portolan/x'))
    expect(statSync(own ?? '').mode & 0o777).toBe(0o700)
    expect(privateDirectory(base, 'x')).toBe(own)
  })

  test.for<[name: string, prepare: (base: string) => void]>([
    ['others may write into it', (base) => chmodSync(join(base, 'portolan/x'), 0o777)],
    ['others may write into it, though not remove', (base) => chmodSync(join(base, 'portolan/x'), 0o1777)],
    ['others may move what it lies in', (base) => chmodSync(join(base, 'portolan'), 0o777)],
    ['a group may', (base) => chmodSync(join(base, 'portolan'), 0o770)],
  ])('is not used where %s', ([, prepare]) => {
    const base = temporaryDirectory(onTestFinished)
    mkdirSync(join(base, 'portolan/x'), { recursive: true })
    prepare(base)
    expect(privateDirectory(base, 'x')).toBeNull()
  })

  test('is not used where a link leads to a place of others', () => {
    const base = temporaryDirectory(onTestFinished)
    const trap = join(base, 'trap')
    mkdirSync(join(base, 'portolan'))
    mkdirSync(trap)
    chmodSync(trap, 0o777)
    symlinkSync(trap, join(base, 'portolan/x'))
    expect(privateDirectory(base, 'x')).toBeNull()
  })

  test.skipIf(!isRoot)('is not used where it belongs to somebody else', () => {
    const base = temporaryDirectory(onTestFinished)
    mkdirSync(join(base, 'portolan/x'), { recursive: true })
    chownSync(join(base, 'portolan/x'), 12_345, 12_345)
    expect(privateDirectory(base, 'x')).toBeNull()
  })

  test('is not used where it cannot be made', () => {
    expect(privateDirectory('/proc/nowhere', 'x')).toBeNull()
  })
})

test('the program keeps its own there, and nothing in the directory that all users share', async () => {
  const cache = temporaryDirectory(onTestFinished)
  const shared = temporaryDirectory(onTestFinished)
  const environment = { XDG_CACHE_HOME: cache, TMPDIR: shared, NODE_COMPILE_CACHE: '' }
  const { code } = await portolan(['--version'], { environment })
  expect(code).toBe(0)
  expect(readdirSync(join(cache, 'portolan/main'))).not.toEqual([])
  expect(readdirSync(shared)).toEqual([])
})
