// A fault names what, where and what to do, whatever the system called it.

import { expect, test } from 'vitest'
import { assert, diskFault, Fault } from './fault.ts'

const errno = (code: string): NodeJS.ErrnoException => Object.assign(new Error(`${code}: it broke`), { code })

test.for([
  ['ENOSPC', 'DISK_FULL', 'free some'],
  ['EDQUOT', 'DISK_FULL', 'free some'],
  ['EROFS', 'DISK_READ_ONLY', 'read-only file system (EROFS); use another directory'],
  ['EACCES', 'DISK_READ_ONLY', 'no permission (EACCES); check the permissions, or use another directory'],
  ['EPERM', 'DISK_READ_ONLY', 'no permission (EPERM); check the permissions, or use another directory'],
  ['EIO', 'DISK_FAILED', 'EIO'],
])('%s becomes %s and says what to do', ([code, expected, advice]) => {
  const fault = diskFault('writing pages.jsonl', errno(String(code)))
  expect(fault.code).toBe(expected)
  expect(fault.message).toContain('writing pages.jsonl')
  expect(fault.message).toContain(advice)
  expect(fault.cause).toBeInstanceOf(Error)
})

test('a fault that is already one is passed on as it is', () => {
  const fault = new Fault('LEDGER_CORRUPT', 'a hole')
  expect(diskFault('reading', fault)).toBe(fault)
})

test('a broken promise is a fault of its own kind', () => {
  expect(() => assert(false, 'two turns of one host')).toThrow(
    expect.objectContaining({ code: 'ASSERTION', message: 'two turns of one host' }),
  )
  expect(() => assert(true, 'never said')).not.toThrow()
})
