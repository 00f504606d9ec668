// Assignments by name: what settings say and what the record of a crawl keeps.

import { Fault } from '../base/index.ts'
import type { Assignment } from './assignment.ts'
import { RENDEZVOUS } from './rendezvous.ts'
import { REPLICAS_MAX, ring } from './ring.ts'

/** Where `ring` does not say how many replicas: with 800 it is as even as rendezvous among 64, and costs as much (docs/scale.md). */
export const RING_REPLICAS = 800

/** What may stand behind the name and a colon is the kind's own affair; null is nothing. */
type MakeAssignment = (detail: string | null) => Assignment | null

/** A further kind is a row here. */
const KINDS: Readonly<Record<string, MakeAssignment>> = {
  rendezvous: (detail) => (detail === null ? RENDEZVOUS : null),
  ring: (detail) => {
    const replicas = detail === null ? RING_REPLICAS : /^[1-9]\d{0,4}$/.test(detail) ? Number(detail) : 0
    return replicas >= 1 && replicas <= REPLICAS_MAX ? ring(replicas) : null
  },
}

/** Null where there is none of this name. */
export function findAssignment(name: string): Assignment | null {
  const colon = name.indexOf(':')
  const kind = colon === -1 ? name : name.slice(0, colon)
  if (!Object.hasOwn(KINDS, kind)) return null
  return (KINDS[kind] as MakeAssignment)(colon === -1 ? null : name.slice(colon + 1))
}

export function assignmentNamed(name: string): Assignment {
  const found = findAssignment(name)
  if (found === null) {
    throw new Fault(
      'CONFIG_INVALID',
      `there is no assignment '${name}'; say rendezvous, ring, or ring:200 for 200 replicas each`,
    )
  }
  return found
}
