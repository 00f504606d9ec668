// Runs a scenario: a script in plain words, one step a line, on a simulated cluster (scenarios/*.txt). Lines that begin with # tell
// what it shows. A step that does not hold fails with its line and the story so far.

import { LawBroken, SimulatedCluster, type SimulatedNode } from './simulated-cluster.ts'

const SHARES = 12

export async function runScenario(text: string): Promise<void> {
  const scenario = new Scenario()
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue
    try {
      await scenario.step(line.trim())
    } catch (error) {
      if (!(error instanceof LawBroken)) throw error
      throw new LawBroken(`line ${index + 1}, '${line}': ${error.message}\n${scenario.story}`)
    }
  }
}

class Scenario {
  readonly #cluster = new SimulatedCluster({ seed: 'a scenario', shares: SHARES })
  #marked = this.#holders()
  #saidAtMark = 0

  get story(): string {
    return this.#cluster.said.join('\n')
  }

  async step(line: string): Promise<void> {
    const [verb = '', ...words] = line.split(' ')
    const [name = ''] = words
    const cluster = this.#cluster
    if (verb === 'start') return void cluster.start(name)
    if (verb === 'wait') return cluster.runFor(milliseconds(name))
    if (verb === 'mark') return this.#mark()
    if (verb === 'wish') return cluster.wish(name, words[1] ?? null)
    if (verb === 'expect') return this.#expect(words)
    for (const node of name === 'all' ? cluster.nodes : [this.#node(name)]) this.#act(verb, node, words)
  }

  #act(verb: string, node: SimulatedNode, words: readonly string[]): void {
    const { machine, engine } = node
    if (verb === 'kill') this.#cluster.kill(node)
    else if (verb === 'restart') {
      this.#cluster.kill(node)
      this.#cluster.start(node.name, true)
    } else if (verb === 'freeze') machine.freeze(false)
    else if (verb === 'sleep') machine.freeze(true)
    else if (verb === 'wake') machine.wake(this.#cluster.random)
    else if (verb === 'cut') engine.cut()
    else if (verb === 'restore') engine.restore()
    else if (verb === 'leave') node.member?.leave()
    else if (verb === 'slow') {
      Object.assign(engine.wire, { delayMs: milliseconds(words[1] ?? ''), loss: Number(words[2]) })
    } else throw new Error(`'${verb}' is no step of a scenario`)
  }

  #expect(words: readonly string[]): void {
    const text = words.join(' ')
    const rest = (prefix: string): string | null => (text.startsWith(prefix) ? text.slice(prefix.length) : null)
    const view = rest('view ')
    const said = rest('said ')
    const neverSaid = rest('never said ')
    const record = rest('record ')
    const mayNot = /^(\w+) may not act$/.exec(text)?.[1]
    const [, runner, count] = /^(\w+) runs (\d+) shares$/.exec(text) ?? []
    const movedFrom = rest('only shares of ')?.replace(' moved', '')
    const movedTo = rest('shares moved only to ')
    const moved = this.#moved()
    const isSaid = (what: string): boolean =>
      this.#cluster.said.slice(this.#saidAtMark).some((one) => one.includes(what))
    if (view !== null) same(this.#cluster.viewNames.join(' ') || 'nobody', view)
    else if (said !== null) holds(isSaid(said), 'it was not said')
    else if (neverSaid !== null) holds(!isSaid(neverSaid), 'it was said')
    else if (record !== null) holds(this.#cluster.state.byName.has(record), 'it is not there')
    else if (mayNot !== undefined) holds(!this.#node(mayNot).lease.isValid(), 'it may act')
    else if (runner !== undefined) same(String(this.#node(runner).running.size), String(count))
    else if (text === 'every share in its place') this.#cluster.checkSettled()
    else if (text.startsWith('every share in its place of '))
      same(String(this.#node(words.at(-1) ?? '').running.size), String(SHARES))
    else if (text === 'no share moved') same(moved.map(({ share }) => share).join(' '), '')
    else if (movedFrom !== undefined) {
      holds(moved.length > 0, 'nothing moved')
      same([...new Set(moved.map(({ from }) => from))].join(' '), movedFrom)
    } else if (movedTo !== null) {
      holds(moved.length > 0, 'nothing moved')
      same([...new Set(moved.map(({ to }) => to))].join(' '), movedTo)
    } else throw new Error(`'${text}' is nothing that can be expected`)
  }

  #mark(): void {
    this.#marked = this.#holders()
    this.#saidAtMark = this.#cluster.said.length
  }

  #holders(): { node: string; epoch: number }[] {
    return this.#cluster.logs.map(({ holder, epoch }) => ({ node: holder?.node ?? '', epoch }))
  }

  /** Shares that were begun since the mark. */
  #moved(): { share: number; from: string; to: string }[] {
    const now = this.#holders()
    return this.#marked
      .map(({ node, epoch }, share) => ({
        share,
        from: node,
        to: now[share]?.node ?? '',
        isSame: now[share]?.epoch === epoch,
      }))
      .filter(({ isSame }) => !isSame)
  }

  /** The last of this name that was started. */
  #node(name: string): SimulatedNode {
    const found = this.#cluster.nodes.findLast((node) => node.name === name)
    if (found === undefined) throw new Error(`no node ${name} was started`)
    return found
  }
}

function holds(isTrue: boolean, what: string): void {
  if (!isTrue) throw new LawBroken(what)
}

function same(actual: string, expected: string): void {
  holds(actual === expected, `it is '${actual}'`)
}

function milliseconds(text: string): number {
  const [, digits = '', unit = ''] = /^(\d+)(ms|s)$/.exec(text) ?? []
  return Number(digits) * (unit === 's' ? 1_000 : 1)
}
