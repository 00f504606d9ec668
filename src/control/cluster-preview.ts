// What a change would skip of what waits on all nodes of a cluster: what each share says, summed up.

import type { SharePreview } from '../supervise/index.ts'
import type { AnswerOf } from './api.ts'

type Preview = Pick<AnswerOf<'preview'>, 'hit' | 'reasons' | 'examples' | 'isComplete'>

const EXAMPLES_MAX = 20

/** `answers`: of each node; undefined: it does not answer, and then it is at least so many. A share that moves may be told of by two: the later look counts. */
export function sumPreviews(answers: readonly (readonly SharePreview[] | undefined)[], shares: number): Preview {
  const said = new Map(answers.flatMap((answer) => (answer ?? []).map((one) => [one.share, one] as const)))
  const all = [...said.values()]
  const reasons: Record<string, number> = {}
  for (const { reasons: own } of all) {
    for (const [reason, count] of Object.entries(own)) reasons[reason] = (reasons[reason] ?? 0) + count
  }
  const each = Math.ceil(EXAMPLES_MAX / Math.max(1, all.length))
  return {
    hit: all.reduce((sum, { hit }) => sum + hit, 0),
    reasons,
    examples: all.flatMap(({ examples }) => examples.slice(0, each)).slice(0, EXAMPLES_MAX),
    isComplete: all.length === shares && all.every(({ isComplete }) => isComplete),
  }
}
