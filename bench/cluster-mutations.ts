// Are the rules of the membership needed, and would we notice? Each is broken in turn, in memory, and the chaotic cluster must
// catch it. Not among them, because they spare trouble and keep no law: that whoever is in no view stops at once (its lease ends
// in time anyhow), and that who knows fewer wishes makes no view (it would be corrected by the next).
//
//   node bench/cluster-mutations.ts [seeds a mutation]

import { spawnSync } from 'node:child_process'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'

interface Mutation {
  readonly name: string
  readonly file: string
  readonly from: string
  readonly to: string
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the margin is forgotten',
    file: 'membership.ts',
    from: 'const waitMs = this.#settings.leaseMs + this.#settings.marginMs',
    to: 'const waitMs = this.#settings.leaseMs',
  },
  {
    name: 'the lease runs from the answer to the beat',
    file: 'membership.ts',
    from: 'this.#lease.renew(sent.ms, sent.wallMs,',
    to: 'this.#lease.renew(this.#clock.nowMs(), this.#clock.wallMs(),',
  },
  {
    name: 'a beat renews without a look at the views',
    file: 'cluster-member.ts',
    from: '    await this.#readViews()\n    return () => this.#membership.renewed',
    to: '    return () => this.#membership.renewed',
  },
  {
    name: 'views are looked at before the beat is stored',
    file: 'cluster-member.ts',
    from: '    await engine.beat(`${node}.${incarnation}`, new TextEncoder().encode(facts), leaseMs / 3)\n    await this.#readViews()\n',
    to: '    await this.#readViews()\n    await engine.beat(`${node}.${incarnation}`, new TextEncoder().encode(facts), leaseMs / 3)\n',
  },
  {
    name: 'the wall clock is not looked at',
    file: 'lease.ts',
    from: 'if (Math.abs(apartMs) > CLOCKS_APART_MS_MAX) return 0',
    to: '',
  },
  {
    name: 'silence is believed without asking',
    file: 'membership.ts',
    from: 'return this.#sightings.provenMs(incarnation) >= this.#sightings.lastSeenMs(incarnation) + waitMs',
    to: 'return this.#clock.nowMs() >= this.#sightings.lastSeenMs(incarnation) + waitMs',
  },
  {
    name: 'whoever is in no view is not waited out',
    file: 'membership.ts',
    from: 'if (nowMs >= absentMs + waitMs) return true',
    to: 'if (nowMs >= absentMs) return true',
  },
  {
    name: 'an answer from before the view was known is proof enough',
    file: 'membership.ts',
    from: 'const neededMs = Math.max(absentMs, this.#sightings.lastSeenMs(incarnation) + waitMs)',
    to: 'const neededMs = this.#sightings.lastSeenMs(incarnation) + waitMs',
  },
  {
    name: 'the last beat before a view is not waited out',
    file: 'membership.ts',
    from: 'const neededMs = Math.max(absentMs, this.#sightings.lastSeenMs(incarnation) + waitMs)',
    to: 'const neededMs = absentMs',
  },
  {
    name: 'a member that is in no view keeps renewing',
    file: 'membership.ts',
    from: "if (this.#phase !== 'member' || incarnation !== this.#incarnation) return",
    to: '',
  },
  {
    name: 'whoever has left may come back as the same',
    file: 'roster.ts',
    from: 'if (this.#departed.has(join.incarnation) || this.#joins.has(join.incarnation)) return',
    to: 'if (this.#joins.has(join.incarnation)) return',
  },
  {
    name: 'a share that was begun and not held is left alone',
    file: 'share-desk.ts',
    from: 'state.isDoubtful = true',
    to: '',
  },
  {
    name: 'a share that is half given up counts as held',
    file: 'share-desk.ts',
    from: '    state.isGiving = false\n    this.#backOff',
    to: "    state.phase = 'held'\n    state.isGiving = false\n    this.#backOff",
  },
  {
    name: 'a new life begins before the old one has given up',
    file: 'membership.ts',
    from: 'if (!this.#desk.isEmpty) return',
    to: '',
  },
  {
    name: 'a holder that lives is not waited for',
    file: 'membership.ts',
    from: 'if (this.#roster.member(incarnation) !== null) return `${node} has not released it yet`',
    to: 'if (this.#roster.member(incarnation) !== null) return true',
  },
]

const [, script = '', first = '400', which] = process.argv
const seeds = Number(first)

if (which === undefined) {
  let missed = 0
  for (const [index, { name }] of MUTATIONS.entries()) {
    const child = spawnSync(process.execPath, [script, first, String(index)], { encoding: 'utf8' })
    if (child.status !== 0) missed++
    console.log(
      `${child.status === 0 ? 'caught' : 'MISSED'}  ${name}: ${child.stdout.trim() || child.stderr.slice(0, 300)}`,
    )
  }
  console.log(`${MUTATIONS.length - missed} of ${MUTATIONS.length} caught`)
  process.exitCode = missed === 0 ? 0 : 1
} else {
  await broken(Number(which))
}

async function broken(index: number): Promise<void> {
  const mutation = MUTATIONS[index]
  if (mutation === undefined) throw new RangeError(`there is no mutation ${index}`)
  const place = fileURLToPath(new URL(`../src/cluster/${mutation.file}`, import.meta.url))
  let times = 0
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context)
      if (!url.startsWith('file:') || fileURLToPath(url) !== place) return loaded
      const text = String(loaded.source)
      times += text.split(mutation.from).length - 1
      return { ...loaded, source: text.replaceAll(mutation.from, () => mutation.to) }
    },
  })
  const { chaos, doubt } = await import('../test/cluster/chaotic-cluster.ts')
  if (times === 0) throw new Error(`'${mutation.from}' does not stand in ${mutation.file} any more`)
  for (let seed = 1; seed <= seeds; seed++) {
    try {
      // Quick, and where the narrowest windows are.
      for (let round = 0; round < 8; round++) await doubt(`${seed} ${round}`)
      await chaos(seed)
    } catch (error) {
      console.log((error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 600))
      return
    }
  }
  process.exitCode = 1
}
