import { distance, type Sketch } from '../parse/index.ts'

/** Below this many words the bits say too little: only the same text counts. */
const VOTES_MIN = 32

/** Whether a page is a near-duplicate of one that had the first sketch. */
export function isNear(one: Pick<Sketch, 'high' | 'low'>, two: Sketch, bits: number): boolean {
  return distance(one, two) <= (two.votes < VOTES_MIN ? 0 : bits)
}
