// What does it cost to claim an address and give it back: at the gate of one thread, and at the one that
// agents in several threads share?
//
//   node bench/ip-gate.ts
//
// Doors are drawn from a fixed seed; up to 256 claims are out at once. One thread does the work, beside
// 0 to 15 other agents that hold nothing: what is counted is the way through the gate, not the fight
// for a cache line, which is rare with addresses by the thousand. Figures are CPU time of this process;
// the gates take turns, and the best of five rounds counts.

import { Random } from '../src/base/index.ts'
import { MemoryIpGate } from '../src/frontier/ip-gate.ts'
import { type IpGate, type IpGateSettings, SharedIpGate } from '../src/frontier/index.ts'

const SEED = 'bench-ip-gate'
const CLAIMS = 2_000_000
const ADDRESSES = 20_000
const OUT_MAX = 256
const ROUNDS = 5

const addresses = Array.from({ length: ADDRESSES }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`)
const claimants = Array.from({ length: OUT_MAX }, (_, number) => ({ number }))

/** CPU nanoseconds of one claim and its release; the time passes fast enough that most doors have rested. */
function nsPerClaim(gate: IpGate, settings: IpGateSettings): number {
  const random = new Random(SEED)
  const doors = addresses.map((address) => gate.doorOf(address))
  const chosen = Int32Array.from({ length: 1 << 16 }, () => doors[random.below(ADDRESSES)] as number)
  const held = new Int32Array(OUT_MAX).fill(-1)
  const stepMs = settings.ipDelayMs / 1_000
  let granted = 0
  const before = process.cpuUsage()
  for (let i = 0; i < CLAIMS; i++) {
    const nowMs = 1_000 + i * stepMs
    const place = i % OUT_MAX
    const claimant = claimants[place] as object
    const door = chosen[i & 0xffff] as number
    if ((held[place] as number) >= 0) gate.release(held[place] as number, nowMs, true, claimant)
    const isGranted = gate.claim(door, nowMs, claimant) === 0
    held[place] = isGranted ? door : -1
    if (isGranted) granted++
  }
  const { user, system } = process.cpuUsage(before)
  if (granted < CLAIMS * 0.9) throw new Error(`only ${granted} of ${CLAIMS} claims were granted`)
  return ((user + system) * 1_000) / CLAIMS
}

function nsPerDoorOf(gate: IpGate): number {
  const before = process.cpuUsage()
  for (let i = 0; i < CLAIMS; i++) gate.doorOf(addresses[i % ADDRESSES] as string)
  const { user, system } = process.cpuUsage(before)
  return ((user + system) * 1_000) / CLAIMS
}

const makers: Record<string, (settings: IpGateSettings) => IpGate> = {
  'one thread': (settings) => new MemoryIpGate(settings),
  'shared by 1': (settings) => new SharedIpGate(SharedIpGate.allocate(1), 0, settings, 0),
  'shared by 4': (settings) => new SharedIpGate(SharedIpGate.allocate(4), 1, settings, 0),
  'shared by 16': (settings) => new SharedIpGate(SharedIpGate.allocate(16), 1, settings, 0),
}

const best: Record<string, number> = {}
const note = (name: string, ns: number): void => {
  best[name] = Math.min(best[name] ?? Infinity, Math.round(ns))
}
for (let round = 0; round < ROUNDS; round++) {
  for (const [name, make] of Object.entries(makers)) {
    for (const ipDelayMs of [0, 10]) {
      const settings = { ipDelayMs, ipConnections: 8 }
      note(`${name}, ipDelay ${ipDelayMs} ms`, nsPerClaim(make(settings), settings))
    }
    note(`${name}, door of an address`, nsPerDoorOf(make({ ipDelayMs: 0, ipConnections: 8 })))
  }
}

for (const [name, ns] of Object.entries(best)) console.log(`${name}: ${ns} ns`)
console.log(JSON.stringify({ bench: 'ip-gate', seed: SEED, claims: CLAIMS, addresses: ADDRESSES, nanoseconds: best }))
