// A small web, and a scheduler in whose hands everything that takes time lies: which message arrives next, which commit ends,
// who is killed. One seed decides all of it, so a run that fails fails again.
//
//   whoever waits ── step(owner) ──▶ | steps that may happen | ──▶ one is drawn, happens, and all that follows at once

import { createHash } from 'node:crypto'
import type { Random } from '../../src/base/index.ts'
import type { CanonicalUrl } from '../../src/url/index.ts'

export interface SimulatedPage {
  readonly url: CanonicalUrl
  readonly links: readonly CanonicalUrl[]
  /** Pages with one content have one digest. */
  readonly digest: Buffer
}

export class SimulatedWeb {
  readonly pages = new Map<CanonicalUrl, SimulatedPage>()
  readonly seeds: readonly CanonicalUrl[]

  /** `looks`: digests look like one of so many, as far as marks of contents can tell. */
  constructor(random: Random, hosts: number, pages: number, contents: number, looks = contents) {
    const urls = Array.from({ length: pages }, (_, i) => `http://h${i % hosts}.test/${i}` as CanonicalUrl)
    for (const url of urls) {
      const links = Array.from({ length: random.below(5) }, () => random.pick(urls))
      const content = random.below(contents)
      const digest = sha256(content)
      // By its first eight bytes it is owned and marked.
      sha256(content % looks).copy(digest, 0, 0, 8)
      this.pages.set(url, { url, links, digest })
    }
    this.seeds = urls.slice(0, 3)
  }

  /** What a crawl must find. */
  reachable(): Set<CanonicalUrl> {
    const found = new Set(this.seeds)
    for (const url of found) for (const link of this.pages.get(url)?.links ?? []) found.add(link)
    return found
  }
}

function sha256(number: number): Buffer {
  return createHash('sha256').update(String(number)).digest()
}

interface Step {
  readonly owner: object
  readonly run: () => void
}

export class Scheduler {
  readonly random: Random
  #steps: Step[] = []
  readonly #dead = new WeakSet<object>()

  constructor(random: Random) {
    this.random = random
  }

  /** Something that will happen some time, unless its owner is dead by then. The function that it gives takes it back. */
  later(owner: object, run: () => void): () => void {
    if (this.#dead.has(owner)) return () => {}
    const step = { owner, run }
    this.#steps.push(step)
    return () => {
      this.#steps = this.#steps.filter((other) => other !== step)
    }
  }

  step(owner: object): Promise<void> {
    return new Promise((resolve) => void this.later(owner, resolve))
  }

  /** Nothing of it happens any more: whoever waits for it waits for ever. */
  kill(owner: object): void {
    this.#dead.add(owner)
    this.#steps = this.#steps.filter((step) => step.owner !== owner)
  }

  get hasSteps(): boolean {
    return this.#steps.length > 0
  }

  /** One of them happens, if there are any, with everything that follows from it at once. */
  async one(): Promise<void> {
    const place = this.random.below(this.#steps.length)
    const [step] = this.#steps.splice(place, 1)
    step?.run()
    await new Promise((resolve) => void setImmediate(resolve))
  }
}
