// What the nodes of a cluster answer of their parts of a crawl, put together: lists merged, bounded; answers of all; answers of each.

import { Fault } from '../base/index.ts'
import type { ClusterStatus } from '../cluster/index.ts'
import type { Engine } from '../engine/index.ts'
import { printable } from '../report/index.ts'
import type { ControlAnswer, loadClusterLook } from '../supervise/index.ts'
import type { AnswerOf } from './api.ts'
import type { Asked } from './crawl-source.ts'
import { type MergedList, mergeLists, type PartOfList } from './merged-lists.ts'
import type { NodeRoute } from './node-answers.ts'

type AskNode = Awaited<ReturnType<typeof loadClusterLook>>['askNode']

/** How long nodes may take to answer a question of the API. */
const ANSWER_MS = 5_000

export class ClusterLists {
  readonly #engine: Engine
  readonly #askNode: AskNode
  /** Who is there now. */
  readonly #names: () => Promise<readonly string[]>

  constructor(engine: Engine, askNode: AskNode, names: () => Promise<readonly string[]>) {
    this.#engine = engine
    this.#askNode = askNode
    this.#names = names
  }

  async merged<T>(
    route: NodeRoute,
    { after, ...asked }: Readonly<{ after?: string | undefined; limit: number }>,
    compare: (one: T, two: T) => number,
    keyOf?: (item: T) => string,
  ): Promise<MergedList<T>> {
    return mergeLists<T>({
      nodes: await this.#names(),
      limit: asked.limit,
      after,
      ask: (node, from) => this.#one<PartOfList<T>>(node, route, from === null ? asked : { ...asked, after: from }),
      compare,
      ...(keyOf === undefined ? {} : { keyOf }),
    })
  }

  /** With how far the catalogues have read: the least of them. */
  async catalogued<N extends 'pages' | 'failures'>(
    route: N,
    asked: Asked<N>,
    compare: (one: AnswerOf<N>['items'][number], two: AnswerOf<N>['items'][number]) => number,
  ): Promise<AnswerOf<N>> {
    type Item = AnswerOf<N>['items'][number]
    let readShare = 1
    const { after, ...rest } = asked as { after?: string; limit: number }
    const merged = await mergeLists<Item>({
      nodes: await this.#names(),
      limit: rest.limit,
      after,
      ask: async (node, from) => {
        const part = await this.#one<AnswerOf<N>>(node, route, from === null ? rest : { ...rest, after: from })
        readShare = Math.min(readShare, part?.readShare ?? 0)
        return part
      },
      compare,
    })
    return { ...merged, items: [...merged.items], readShare } as unknown as AnswerOf<N>
  }

  /** Of all that answer and do not refuse. Where all refuse, their first reason. */
  async askAll<T>(route: NodeRoute, asked: object): Promise<T[]> {
    const faults: Fault[] = []
    const names = await this.#names()
    const answers = await Promise.all(
      names.map((node) =>
        this.#one<T>(node, route, asked).catch((fault: unknown) => {
          if (!(fault instanceof Fault)) throw fault
          faults.push(fault)
          return null
        }),
      ),
    )
    const found = answers.filter((answer) => answer !== null)
    if (found.length === 0 && faults[0] !== undefined) throw faults[0]
    return found
  }

  /** Null: it does not answer. Throws what it refuses. */
  async #one<T>(node: string, route: NodeRoute, asked: object): Promise<T | null> {
    let heard: ControlAnswer
    try {
      const question = { ask: 'control', route, asked: { ...asked }, who: 'cluster' } as const
      heard = (await this.#askNode(this.#engine, node, question, ANSWER_MS)) as ControlAnswer
    } catch (fault) {
      if (fault instanceof Fault) return null
      throw fault
    }
    if ('fault' in heard) throw new Fault('CONTROL_REFUSED', `node ${node}: ${printable(heard.fault.message)}`)
    return heard.answer as T
  }

  /** One answer of each node, in their order; undefined: it does not answer. */
  ofEach<T>(
    { nodes }: Pick<ClusterStatus, 'nodes'>,
    question: Parameters<AskNode>[2],
    withinMs = ANSWER_MS,
  ): Promise<(T | undefined)[]> {
    return Promise.all(
      nodes.map(async ({ node }) => {
        try {
          return (await this.#askNode(this.#engine, node, question, withinMs)) as T
        } catch (fault) {
          if (fault instanceof Fault) return undefined
          throw fault
        }
      }),
    )
  }
}
