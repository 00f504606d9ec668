// What a frontier promises, written down as slowly and obviously as possible: arrays, scans, no
// lists to keep in step. Random sequences of operations run on the real thing and on this; where the
// order among hosts is free, the model checks that what came is lawful rather than one certain host.

import * as fc from 'fast-check'
import { assert, type ManualClock } from '../base/index.ts'
import type { CanonicalUrl, HostKey } from '../url/index.ts'
import type { Errand, Frontier, FrontierEntry, FrontierFigures, Turn } from './frontier.ts'
import type { Subject } from './steady-frontier.conformance.ts'

/** One step of a random run. Numbers choose among what is there: hosts by name, turns by their place. */
export type Operation =
  | { readonly kind: 'offer'; readonly host: number; readonly band: number }
  | { readonly kind: 'errand' | 'park' | 'unpark'; readonly host: number }
  | { readonly kind: 'rest' | 'leastRest'; readonly host: number; readonly ms: number }
  | { readonly kind: 'take' }
  | { readonly kind: 'claim'; readonly turn: number; readonly address: number }
  | {
      readonly kind: 'settle'
      readonly turn: number
      readonly ms: number
      readonly visited: number
      readonly again: boolean
    }
  | { readonly kind: 'advance'; readonly ms: number }

const HOSTS = 7
const DOMAINS = 3
const host = fc.nat({ max: HOSTS - 1 })
const turn = fc.nat({ max: 5 })
const ms = fc.constantFrom(0, 0, 1, 30, 1_000)

export const operations: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('offer' as const), host, band: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('errand' as const, 'park', 'unpark'), host }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('rest' as const, 'leastRest'), host, ms }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('take' as const) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('claim' as const), turn, address: fc.nat({ max: 2 }) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      turn,
      ms,
      visited: fc.nat({ max: 4 }),
      again: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('advance' as const), ms }) },
)

export interface ModelSettings {
  readonly clock: ManualClock
  readonly delayMs: number
  readonly ipDelayMs: number
  readonly ipConnections: number
  readonly urlsPerTurn: number
  readonly bands: number
  /** Hosts of a domain are asked one at a time, and it rests so long; 0 or none: domains do not count. */
  readonly domainDelayMs?: number
}

interface ModelAddress {
  out: number
  restUntilMs: number
}

interface ModelHost {
  readonly key: HostKey
  /** In the order of offering; the order within a band is the order of handing out. */
  entries: FrontierEntry[]
  readonly errands: Errand[]
  turn: Turn | null
  isOffered: boolean
  isParked: boolean
  restUntilMs: number
  leastRestMs: number
  address: ModelAddress | null
  holdsClaim: boolean
  readonly domain: ModelAddress
  /** Since it could be asked its address was taken at some moment: it may have its domain, and wait for its address. */
  mayHoldDomain: boolean
  /** Since when it could be asked in this band without a break: the hosts of the band served meanwhile. */
  passedBy: Set<HostKey> | null
  passedByBand: number
}

class Model {
  readonly #settings: ModelSettings
  readonly #subject: Subject
  readonly #real: Frontier
  readonly #hosts = new Map<HostKey, ModelHost>()
  readonly #addresses = new Map<string, ModelAddress>()
  readonly turns: Turn[] = []
  #made = 0

  constructor(subject: Subject, settings: ModelSettings) {
    this.#subject = subject
    this.#real = subject.frontier
    this.#settings = settings
  }

  async run(operation: Operation): Promise<void> {
    const real = this.#real
    const nowMs = this.#nowMs
    switch (operation.kind) {
      case 'offer': {
        const host = this.#host(operation.host)
        const entry = this.#entry(host.key, operation.band % this.#settings.bands)
        real.offer(entry)
        host.isOffered = true
        host.entries.push(entry)
        break
      }
      case 'errand': {
        const host = this.#host(operation.host)
        const errand = { url: `http://${host.key}/robots.txt` as CanonicalUrl, host: host.key, purpose: this.#made++ }
        real.sendErrand(errand)
        host.errands.push(errand)
        break
      }
      case 'park':
      case 'unpark': {
        const host = this.#host(operation.host)
        real[operation.kind](host.key)
        host.isParked = operation.kind === 'park'
        break
      }
      case 'rest': {
        const host = this.#host(operation.host)
        real.rest(host.key, operation.ms)
        host.restUntilMs = Math.max(host.restUntilMs, nowMs + operation.ms)
        break
      }
      case 'leastRest': {
        const host = this.#host(operation.host)
        real.setLeastRest(host.key, operation.ms)
        host.leastRestMs = operation.ms
        break
      }
      case 'take':
        this.#take()
        break
      case 'claim':
        this.#claim(operation.turn, `10.0.0.${operation.address}`)
        break
      case 'settle':
        this.#settle(operation)
        break
      case 'advance':
        this.#settings.clock.advance(operation.ms)
        break
    }
    await this.#subject.settled()
    this.#watch()
    same(real.figures(), this.#figures(), 'the figures')
  }

  /** Ends every turn and every rest until nothing is left: each entry must have come out. */
  async drain(): Promise<void> {
    for (const host of this.#hosts.values()) await this.run({ kind: 'unpark', host: indexOf(host.key) })
    while (this.turns.length > 0) await this.run({ kind: 'settle', turn: 0, ms: 0, visited: Infinity, again: false })
    for (;;) {
      await this.run({ kind: 'take' })
      if (this.turns.length > 0) await this.run({ kind: 'settle', turn: 0, ms: 0, visited: Infinity, again: false })
      else {
        const atMs = this.#real.nextReadyMs()
        if (atMs === null) break
        await this.run({ kind: 'advance', ms: Math.max(atMs - this.#nowMs, 1e-3) })
      }
    }
    const left = [...this.#hosts.values()].filter((host) => host.entries.length + host.errands.length > 0)
    same(
      left.map((host) => host.key),
      [],
      'hosts with something left when the frontier was drained',
    )
    same(await this.#subject.entries(), [], 'entries left when the frontier was drained')
  }

  #take(): void {
    const turn = this.#real.take()
    const lawful = [...this.#hosts.values()].filter((host) => this.#mayBeAsked(host))
    const eligible = lawful.filter((host) => this.#mustBeAsked(host))
    if (turn === null) {
      same(
        eligible.map((host) => host.key),
        [],
        'take() gave nothing, but these may be asked',
      )
      this.#checkNextReady()
      return
    }
    const host = this.#hosts.get(turn.host)
    assert(host !== undefined && lawful.includes(host), `${turn.host} was handed out but may not be asked`)
    const band = bandOf(host)
    for (const other of eligible) {
      assert(bandOf(other) >= band, `${host.key} of band ${band} went before ${other.key} of band ${bandOf(other)}`)
      if (other === host || bandOf(other) !== band || other.passedBy === null || !this.#subject.keepsPlaces) continue
      assert(!other.passedBy.has(host.key), `${host.key} went twice while ${other.key} waited`)
      other.passedBy.add(host.key)
    }
    const errand = host.errands.shift() ?? null
    same(turn.errand, errand, 'the errand of the turn')
    const expected = errand === null ? this.#nextEntries(host) : []
    same(turn.entries, expected, 'the entries of the turn')
    host.entries = host.entries.filter((entry) => !expected.includes(entry))
    host.turn = turn
    host.passedBy = null
    if (host.address !== null) this.#grant(host, host.address)
    host.domain.out++
    this.turns.push(turn)
  }

  #claim(place: number, address: string): void {
    const turn = this.turns[place % this.turns.length]
    if (turn === undefined) return
    const host = this.#hosts.get(turn.host) as ModelHost
    const target = this.#address(address)
    const atMs = this.#real.claimAddress(turn, address)
    if (host.holdsClaim && host.address === target) {
      same(atMs, 0, 'a second claim in one turn')
      return
    }
    if (host.holdsClaim) this.#release(host)
    host.address = target
    const isFree = this.#isFree(target)
    if (atMs === 0) {
      assert(isFree, `${host.key} was granted ${address}, which is not free`)
      this.#grant(host, target)
    } else {
      const others = [...this.#hosts.values()].some((other) => other.address === target && this.#isReady(other))
      assert(!isFree || others, `${host.key} was refused ${address}, which is free and wanted by nobody`)
      assert(atMs >= this.#nowMs, `${host.key} is told to come back in the past`)
    }
  }

  #settle(operation: Operation & { kind: 'settle' }): void {
    const [turn] = this.turns.splice(operation.turn % Math.max(1, this.turns.length), 1)
    if (turn === undefined) return
    const host = this.#hosts.get(turn.host) as ModelHost
    const visited = turn.entries.slice(0, operation.visited)
    const unvisited = turn.entries.slice(operation.visited)
    const [first] = visited
    const again = operation.again && first !== undefined ? [{ ...first, tries: first.tries + 1 }] : []
    const back = new Set([...unvisited, ...again].map((entry) => entry.url))
    for (const entry of turn.entries) if (!back.has(entry.url)) this.#real.conclude(entry, true)
    this.#real.settle(turn, { restMs: operation.ms, unvisited, again })
    host.turn = null
    host.entries = [...unvisited, ...host.entries, ...again]
    host.restUntilMs = Math.max(host.restUntilMs, this.#nowMs + operation.ms)
    if (host.holdsClaim) this.#release(host)
    host.domain.out--
    host.domain.restUntilMs = this.#nowMs + this.#domainDelayMs
  }

  /** A time to come back must lie ahead, and not after the first host that could be asked. */
  #checkNextReady(): void {
    const atMs = this.#real.nextReadyMs()
    const times = [...this.#hosts.values()]
      .filter((host) => host.turn === null && bandOf(host) !== Infinity)
      .map((host) => {
        if (!this.#isSureOfDomain(host)) return Infinity
        const restUntilMs = Math.max(host.restUntilMs, this.#domainDelayMs > 0 ? host.domain.restUntilMs : 0)
        if (host.address === null) return restUntilMs
        const isFull = host.address.out >= this.#settings.ipConnections
        return isFull ? Infinity : Math.max(restUntilMs, host.address.restUntilMs)
      })
    const firstMs = Math.min(Infinity, ...times)
    assert(atMs === null || atMs > this.#nowMs, `take() gave nothing, but nextReadyMs() says ${atMs}, now or earlier`)
    assert((atMs ?? Infinity) <= firstMs, `nextReadyMs() says ${atMs}, but a host may be asked at ${firstMs}`)
  }

  /** Notes who could be asked at this moment, for the law of taking turns. */
  #watch(): void {
    for (const host of this.#hosts.values()) {
      const isRefused = host.address !== null && !this.#isFree(host.address)
      host.mayHoldDomain = this.#isReady(host) && (host.mayHoldDomain || isRefused)
    }
    for (const host of this.#hosts.values()) {
      const band = bandOf(host)
      if (!this.#mustBeAsked(host) || (host.passedBy !== null && host.passedByBand !== band)) host.passedBy = null
      if (host.passedBy === null && this.#mustBeAsked(host)) {
        host.passedBy = new Set()
        host.passedByBand = band
      }
    }
  }

  #figures(): FrontierFigures {
    const hosts = [...this.#hosts.values()]
    const waiting = hosts.map((host) => host.entries.length + (host.turn?.entries.length ?? 0))
    const idle = hosts.filter((host) => host.turn === null)
    return {
      waiting: waiting.reduce((sum, count) => sum + count, 0),
      hosts: hosts.filter((host) => host.isOffered).length,
      ready: idle.filter((host) => this.#isReady(host)).length,
      resting: idle.filter((host) => bandOf(host) !== Infinity && host.restUntilMs > this.#nowMs).length,
      parked: idle.filter((host) => host.isParked && host.errands.length === 0 && host.entries.length > 0).length,
      out: hosts.length - idle.length,
    }
  }

  #isReady(host: ModelHost): boolean {
    return host.turn === null && bandOf(host) !== Infinity && host.restUntilMs <= this.#nowMs
  }

  #mayBeAsked(host: ModelHost): boolean {
    return (
      this.#isReady(host) && this.#isDomainFree(host.domain) && (host.address === null || this.#isFree(host.address))
    )
  }

  /** Nobody may stand in its way: who has its domain may keep it while it waits for an address. */
  #mustBeAsked(host: ModelHost): boolean {
    return this.#mayBeAsked(host) && this.#isSureOfDomain(host)
  }

  #isSureOfDomain(host: ModelHost): boolean {
    if (this.#domainDelayMs === 0) return true
    if (host.domain.out > 0) return false
    for (const other of this.#hosts.values()) {
      if (other !== host && other.domain === host.domain && other.mayHoldDomain) return false
    }
    return true
  }

  #isDomainFree(domain: ModelAddress): boolean {
    return this.#domainDelayMs === 0 || (domain.out === 0 && domain.restUntilMs <= this.#nowMs)
  }

  get #domainDelayMs(): number {
    return this.#settings.domainDelayMs ?? 0
  }

  #isFree(address: ModelAddress): boolean {
    return address.out < this.#settings.ipConnections && address.restUntilMs <= this.#nowMs
  }

  #grant(host: ModelHost, address: ModelAddress): void {
    host.holdsClaim = true
    address.out++
    address.restUntilMs = Math.max(address.restUntilMs, this.#nowMs + this.#settings.ipDelayMs)
  }

  #release(host: ModelHost): void {
    const address = host.address as ModelAddress
    host.holdsClaim = false
    address.out--
    address.restUntilMs = Math.max(address.restUntilMs, this.#nowMs + this.#settings.ipDelayMs)
  }

  #nextEntries(host: ModelHost): FrontierEntry[] {
    const { delayMs, ipDelayMs, urlsPerTurn } = this.#settings
    const band = bandOf(host)
    const isRestless = delayMs === 0 && host.leastRestMs === 0 && ipDelayMs === 0 && this.#domainDelayMs === 0
    return host.entries.filter((entry) => entry.band === band).slice(0, isRestless ? urlsPerTurn : 1)
  }

  get #nowMs(): number {
    return this.#settings.clock.nowMs()
  }

  #entry(host: HostKey, band: number): FrontierEntry {
    const number = this.#made++
    return {
      url: `http://${host}/${number}` as CanonicalUrl,
      host,
      via: number % 3 === 0 ? null : (`http://elsewhere/${number % 5}` as CanonicalUrl),
      depth: number % 11,
      hops: number % 4,
      band,
      isSeed: number % 3 === 0,
      tries: number % 2,
      pauses: number % 5,
    }
  }

  #host(index: number): ModelHost {
    const domain = `d${index % DOMAINS}.test`
    const key = `h${index}.${domain}` as HostKey
    let host = this.#hosts.get(key)
    if (host === undefined) {
      host = {
        key,
        entries: [],
        errands: [],
        turn: null,
        isOffered: false,
        isParked: false,
        restUntilMs: 0,
        leastRestMs: 0,
        address: null,
        holdsClaim: false,
        domain: this.#address(domain),
        mayHoldDomain: false,
        passedBy: null,
        passedByBand: 0,
      }
      this.#hosts.set(key, host)
    }
    return host
  }

  #address(text: string): ModelAddress {
    let address = this.#addresses.get(text)
    if (address === undefined) {
      address = { out: 0, restUntilMs: 0 }
      this.#addresses.set(text, address)
    }
    return address
  }
}

/** The band a host would be served in; Infinity when there is nothing to ask it for. */
function bandOf(host: ModelHost): number {
  if (host.turn !== null) return Infinity
  if (host.errands.length > 0) return 0
  return host.isParked ? Infinity : Math.min(Infinity, ...host.entries.map((entry) => entry.band))
}

function indexOf(key: HostKey): number {
  return Number.parseInt(key.slice(1), 10)
}

function same(real: unknown, model: unknown, what: string): void {
  const [shown, expected] = [JSON.stringify(real), JSON.stringify(model)]
  if (shown !== expected) assert(false, `${what}: ${shown} instead of ${expected}`)
}

/** Runs a sequence on both; throws at the first law that is broken. */
export async function checkAgainstModel(
  subject: Subject,
  settings: ModelSettings,
  sequence: readonly Operation[],
): Promise<void> {
  const model = new Model(subject, settings)
  for (const operation of sequence) {
    await model.run(operation)
    subject.frontier.assertSound()
  }
  await model.drain()
  subject.frontier.assertSound()
}
