import { describe, expect, test } from 'vitest'
import { ipGateConformance } from './ip-gate.conformance.ts'
import { MemoryIpGate, politenessKeyOf } from './ip-gate.ts'

describe('what of an address counts', () => {
  test.each([
    ['192.0.2.7', '192.0.2.7'],
    ['::ffff:192.0.2.7', '192.0.2.7'],
    ['::ffff:c000:207', '192.0.2.7'],
    ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8:1::', '2001:db8:1::/48'],
    ['2001:0DB8:0001::9', '2001:db8:1::/48'],
    ['2001:db8::1:2:3:4', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['::1', '0:0:0::/48'],
    ['64:ff9b::192.0.2.7', '64:ff9b:0::/48'],
  ])('of %s it is %s', (address, key) => {
    expect(politenessKeyOf(address)).toBe(key)
  })
})

ipGateConformance('MemoryIpGate', (settings) => new MemoryIpGate(settings))

describe('MemoryIpGate', () => {
  test('gives every address a door of its own, and a full one waits for a release alone', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 0, ipConnections: 1 })
    const doors = Array.from({ length: 1_000 }, (_, i) => gate.doorOf(`10.0.${i >> 8}.${i & 255}`))
    expect(new Set(doors).size).toBe(1_000)
    expect(doors.filter((door) => gate.claim(door, 1, {}) !== 0)).toEqual([])
    expect(doors.filter((door) => gate.claim(door, 1, {}) !== Infinity)).toEqual([])
  })
})
