import fc from 'fast-check'
import { expect, test } from 'vitest'
import { logOf, logRecords } from './level-log.ts'

const BLOCK = 32_768

function read(bytes: Buffer): { records: Buffer[]; damage: string[] } {
  const damage: string[] = []
  return { records: [...logRecords(bytes, (what) => damage.push(what))], damage }
}

/** Sizes around what a block takes, and small ones. */
const record = fc
  .oneof(fc.nat(300), fc.integer({ min: BLOCK - 30, max: BLOCK + 30 }), fc.nat(100_000))
  .chain((length) => fc.nat(255).map((byte) => Buffer.alloc(length, byte)))

test('what is written as a log is read from it, wherever blocks end', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 6 }), (records) => {
      expect(read(logOf(records))).toEqual({ records, damage: [] })
    }),
    { numRuns: 40 },
  )
})

test('cut anywhere it has its first records, and that is no damage', () => {
  fc.assert(
    fc.property(fc.array(record, { maxLength: 5 }), fc.nat(), (records, place) => {
      const log = logOf(records)
      const { records: found, damage } = read(log.subarray(0, place % (log.length + 1)))
      expect(found).toEqual(records.slice(0, found.length))
      expect(damage).toEqual([])
    }),
    { numRuns: 40 },
  )
})

test('a flipped bit costs records, and makes none', () => {
  fc.assert(
    fc.property(fc.array(record, { minLength: 1, maxLength: 5 }), fc.nat(), fc.nat(7), (records, place, bit) => {
      const log = logOf(records)
      const at = place % log.length
      log[at] = (log[at] as number) ^ (1 << bit)
      const { records: found } = read(log)
      const left = records.map((one) => one.toString('latin1'))
      for (const one of found) {
        const i = left.indexOf(one.toString('latin1'))
        expect(i).toBeGreaterThanOrEqual(0)
        left.splice(0, i + 1)
      }
    }),
    { numRuns: 60 },
  )
})

test('zeros behind the end, which a file system may leave, are no damage', () => {
  const log = logOf([Buffer.from('one')])
  expect(read(Buffer.concat([log, Buffer.alloc(50_000)]))).toEqual({ records: [Buffer.from('one')], damage: [] })
})
