// How the memory of --memory is shared out. What the process takes for itself (code, sockets, documents in hand, buffers,
// young objects) is set aside first; the rest goes to what grows with the crawl, each part with a bound of its own,
// beyond which it goes to disk or forgets.

export interface MemoryPlan {
  readonly seenBytes: number
  readonly frontierBytes: number
  readonly contentsBytes: number
  readonly robotsBytes: number
}

/** Measured (bench/memory-bound.ts): crawls with one to two million URLs waiting took 298 to 327 MiB where the parts had 48. */
const PROCESS_BYTES = 304 * 2 ** 20

/** Shares of the rest. What is left over is slack: the collector of garbage runs after the fact. */
const SEEN_SHARE = 0.36
const FRONTIER_SHARE = 1 / 4
const CONTENTS_SHARE = 1 / 12
const ROBOTS_SHARE = 1 / 12

/** Of the rest of all agents together: what they have met of contents, in memory of all (src/exchange/content-marks.ts). Some four bytes a page. */
const MARKS_SHARE = 1 / 48

/** Below this the parts would be too small to be of use. */
export const MEMORY_MIN = PROCESS_BYTES + 64 * 2 ** 20

/** What an agent beyond the first takes for itself: a heap, code, documents and sockets of its own. */
const AGENT_BYTES = 96 * 2 ** 20

/** The least memory that so many agents can do with. */
export function leastMemory(agents: number): number {
  return MEMORY_MIN + (agents - 1) * (AGENT_BYTES + 48 * 2 ** 20)
}

/** What each of the agents may use. */
export function planMemory(bytes: number, agents = 1): MemoryPlan {
  const rest = restOf(bytes, agents) / agents
  return {
    seenBytes: Math.floor(rest * SEEN_SHARE),
    frontierBytes: Math.floor(rest * FRONTIER_SHARE),
    contentsBytes: Math.floor(rest * CONTENTS_SHARE),
    robotsBytes: Math.floor(rest * ROBOTS_SHARE),
  }
}

/** What marks of contents may use that all agents of a process share. */
export function planMarks(bytes: number, agents: number): number {
  return Math.floor(restOf(bytes, agents) * MARKS_SHARE)
}

/** What is shared out to parts, of all agents. */
function restOf(bytes: number, agents: number): number {
  return Math.max(bytes, leastMemory(agents)) - PROCESS_BYTES - (agents - 1) * AGENT_BYTES
}
