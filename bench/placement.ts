// How even are the assignments, what do they cost, and how many shares move when a node comes or goes?
//
//   node bench/placement.ts [--json FILE]
//
// Balance: 65,536 slots among members whose numbers are drawn at random, many times. The deviation of a member is how far its
// slots are off its part; told are the average of all members (what we take the paper's figure for) and the worst of each draw, on average.
// Moves: from n nodes to n + 1 with names drawn at random: shares that go to the joiner, and others. A node that leaves, is drained
// or dies is the same the other way round. All from one seed: the same figures every time, but for the CPU times.

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { Random } from '../src/base/index.ts'
import { assignmentNamed, placeShares, shareOfSlot, SLOTS } from '../src/placement/index.ts'

const { values } = parseArgs({ options: { json: { type: 'string' } } })
const SEED = 6
const KINDS = ['rendezvous', 'ring:50', 'ring:100', 'ring:200', 'ring:400', 'ring:800', 'ring:1600'] as const
const MEMBERS = [2, 4, 8, 16, 32, 64] as const
/** Members looked at in all, for each kind and number. */
const SAMPLES = 256
/** Shares, and nodes before one more joins: also where a part comes to be whole, and where it ceases to be. */
const PLACES = [
  [16, [1, 2, 3, 4, 5, 7, 8, 15]],
  [64, [3, 4, 7, 8, 16, 31, 32]],
  [256, [7, 8, 20, 31, 32]],
  [1_024, [15, 16, 63, 64]],
] as const
const VIEWS = 200

interface Balance {
  readonly kind: string
  readonly members: number
  /** In per cent of a part. */
  readonly average: number
  readonly worst: number
  /** Of members 0, 1, 2 …, the ones crawls have: worst of them. */
  readonly numbered: number
}

function deviations(owners: Uint16Array, members: number): number[] {
  const counts = new Uint32Array(members)
  for (const owner of owners) counts[owner] = (counts[owner] as number) + 1
  return Array.from(counts, (count) => Math.abs(count / (SLOTS / members) - 1) * 100)
}

const average = (figures: readonly number[]): number => figures.reduce((sum, one) => sum + one, 0) / figures.length
const rounded = (figure: number): number => Math.round(figure * 100) / 100

function balanceOf(kind: string, members: number): Balance {
  const random = new Random(SEED)
  const assignment = assignmentNamed(kind)
  const all: number[] = []
  const worst: number[] = []
  for (let draw = 0; draw < SAMPLES / members; draw++) {
    const list = Array.from({ length: members }, () => ({ id: random.next32(), weight: 1 }))
    const found = deviations(assignment.owners(SLOTS, list), members)
    all.push(...found)
    worst.push(Math.max(...found))
  }
  const numbered = Math.max(...deviations(shareOfSlot(members, assignment), members))
  return { kind, members, average: rounded(average(all)), worst: rounded(average(worst)), numbered: rounded(numbered) }
}

interface Moves {
  readonly kind: string
  readonly shares: number
  readonly nodes: number
  readonly toJoiner: number
  readonly others: number
  readonly othersMost: number
}

function movesOf(kind: string, shares: number, nodes: number): Moves {
  const random = new Random(SEED)
  const views = Math.ceil((VIEWS * 16) / shares) + 20
  let toJoiner = 0
  const others: number[] = []
  for (let view = 0; view < views; view++) {
    const list = Array.from({ length: nodes + 1 }, () => ({ name: `node-${random.next32()}`, weight: 1 }))
    const before = placeShares(shares, list.slice(1), kind)
    const after = placeShares(shares, list, kind)
    const moved = after.filter((node, share) => node !== before[share])
    const joined = moved.filter((node) => node === list[0]?.name).length
    toJoiner += joined
    others.push(moved.length - joined)
  }
  return {
    kind,
    shares,
    nodes,
    toJoiner: rounded(toJoiner / views),
    others: rounded(average(others)),
    othersMost: Math.max(...others),
  }
}

function cpuMs(run: () => unknown): number {
  let best = Infinity
  for (let round = 0; round < 3; round++) {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    best = Math.min(best, (user + system) / 1_000)
  }
  return Math.round(best * 10) / 10
}

const balance = KINDS.flatMap((kind) => MEMBERS.map((members) => balanceOf(kind, members)))
console.log('deviation from one part, % (average of members / worst member of a draw / worst of members 0, 1, 2 …)')
console.log(`${'members'.padEnd(12)}${MEMBERS.map((members) => String(members).padStart(20)).join('')}`)
for (const kind of KINDS) {
  const cells = balance.filter((one) => one.kind === kind)
  const texts = cells.map((one) => `${one.average.toFixed(1)} / ${one.worst.toFixed(1)} / ${one.numbered.toFixed(1)}`)
  console.log(`${kind.padEnd(12)}${texts.map((text) => text.padStart(20)).join('')}`)
}

const costs = ['rendezvous', 'ring:200', 'ring:400', 'ring:800'].flatMap((kind) =>
  [16, 1_024].map((shares) => ({ kind, shares, ms: cpuMs(() => shareOfSlot(shares, assignmentNamed(kind))) })),
)
for (const { kind, shares, ms } of costs) console.log(`${kind}: slots of ${shares} shares in ${ms} ms of CPU time`)

const moves = ['rendezvous', 'ring'].flatMap((kind) =>
  PLACES.flatMap(([shares, counts]) => counts.map((nodes) => movesOf(kind, shares, nodes))),
)
for (const one of moves) {
  console.log(
    `${one.kind}: ${one.shares} shares, ${one.nodes} nodes and one joins: ${one.toJoiner} to it, ${one.others} others, ${one.othersMost} at most`,
  )
}
const nodesOf = (count: number): { name: string; weight: number }[] =>
  Array.from({ length: count }, (_, i) => ({ name: `node-${i}`, weight: 1 }))
const placing = [
  [16, 4],
  [256, 32],
  [1_024, 64],
  [1_024, 1_000],
].map(([shares = 0, nodes = 0]) => {
  const ms = cpuMs(() => placeShares(shares, nodesOf(nodes), 'rendezvous'))
  console.log(`placing ${shares} shares on ${nodes} nodes: ${ms} ms of CPU time`)
  return { shares, nodes, ms }
})

const result = { bench: 'placement', seed: SEED, balance, costs, moves, placing }
console.log(JSON.stringify(result))
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(result, null, 1)}\n`)
