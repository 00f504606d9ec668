import { describe, expect, test } from 'vitest'
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

describe('a gate', () => {
  test('has one door for the addresses that count as one', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 0, ipConnections: 1 })
    expect(gate.doorOf('2001:db8:1::1')).toBe(gate.doorOf('2001:db8:1:8000::2'))
    expect(gate.doorOf('192.0.2.1')).not.toBe(gate.doorOf('192.0.2.2'))
  })

  test('grants ipConnections at once, and then only after a release', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 0, ipConnections: 2 })
    const door = gate.doorOf('192.0.2.1')
    expect([gate.claim(door, 1), gate.claim(door, 1), gate.claim(door, 1)]).toEqual([0, 0, Infinity])
    gate.release(door, 2, true)
    expect(gate.claim(door, 2)).toBe(0)
  })

  test('says when its rest is over, counted from the last start or end', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 10, ipConnections: 2 })
    const door = gate.doorOf('192.0.2.1')
    expect(gate.claim(door, 100)).toBe(0)
    expect(gate.claim(door, 105)).toBe(110)
    expect(gate.claim(door, 110)).toBe(0)
    gate.release(door, 115, true)
    expect(gate.claim(door, 120)).toBe(125)
  })

  test('does not rest for a claim that asked nothing, but for all others', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 10, ipConnections: 2 })
    const door = gate.doorOf('192.0.2.1')
    expect(gate.claim(door, 100)).toBe(0)
    gate.release(door, 101, false)
    expect(gate.claim(door, 101)).toBe(0)
    // While one is under way another is granted and given back unasked: the first one's end counts.
    expect(gate.claim(door, 111)).toBe(0)
    gate.release(door, 112, true)
    gate.release(door, 113, false)
    expect(gate.claim(door, 114)).toBe(122)
  })

  test('keeps thousands of doors apart', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 0, ipConnections: 1 })
    const doors = Array.from({ length: 1_000 }, (_, i) => gate.doorOf(`10.0.${i >> 8}.${i & 255}`))
    expect(new Set(doors).size).toBe(1_000)
    for (const door of doors) expect(gate.claim(door, 1)).toBe(0)
    for (const door of doors) expect(gate.claim(door, 1)).toBe(Infinity)
  })

  test('refuses to be given back what it did not grant, and to be closed for ever', () => {
    const gate = new MemoryIpGate({ ipDelayMs: 0, ipConnections: 1 })
    expect(() => gate.release(gate.doorOf('192.0.2.1'), 1, true)).toThrow(/more often/)
    expect(() => new MemoryIpGate({ ipDelayMs: 0, ipConnections: 0 })).toThrow(/ipConnections/)
  })
})
