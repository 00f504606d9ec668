// Whose is a point? A function of who takes part, and of nothing else: everybody who knows the members and their weights
// comes to the same answer without asking anybody.
//
//   slots (65,536) ──▶ shares or agents      fixed, or few who come and go: owners()
//   shares (S)     ──▶ nodes of a view       with a bound on how many each may have: place-shares.ts
//
// Every member has an affinity to every point, a number that depends on the two alone; the highest has the point. From that
// alone follows UbiCrawler's contravariance: whoever joins takes points from others, and none changes hands between those;
// whoever leaves leaves its points, and no other point moves. The kinds differ in how the number is drawn.

/** Somebody who can own points. */
export interface Member {
  /** A whole number below 2³², the same in every view it takes part in. */
  readonly id: number
  /** Its part of the points is its part of the sum of weights, about. */
  readonly weight: number
}

export interface Assignment {
  /** What it is called in settings and records: `rendezvous`, `ring:200`. */
  readonly name: string
  /** How much a member is drawn to each of so many points. Only the order of the numbers means anything. */
  affinities(points: number, member: Member): Float64Array
  /** By point: the place in the list of the member with the highest affinity; of equal ones that with the lowest id. */
  owners(points: number, members: readonly Member[]): Uint16Array
}

/** The members in the order in which equal affinities are settled, each with its place in the list that was given. */
export function inOrder(members: readonly Member[]): (Member & { readonly place: number })[] {
  return members.map(({ id, weight }, place) => ({ id, weight, place })).sort((a, b) => a.id - b.id)
}

/** What `owners` must answer, by the plainest way there is. */
export function highestAffinity(assignment: Assignment, points: number, members: readonly Member[]): Uint16Array {
  const owners = new Uint16Array(points)
  const best = new Float64Array(points).fill(-Infinity)
  for (const member of inOrder(members)) {
    const affinities = assignment.affinities(points, member)
    for (let point = 0; point < points; point++) {
      const affinity = affinities[point] as number
      if (affinity <= (best[point] as number)) continue
      best[point] = affinity
      owners[point] = member.place
    }
  }
  return owners
}
