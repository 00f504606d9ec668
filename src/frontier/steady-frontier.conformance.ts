// A frontier under test, memory or disk: each call is followed by the rest of what it set going, so that what the laws
// say of one moment can be asked of a frontier that reads and writes beside it.

import type { Frontier, FrontierEntry, HostState } from './frontier.ts'

export interface Subject {
  readonly frontier: Frontier
  /** Waits until nothing goes on beside; may also set going what a frontier must bear at any time. */
  settled(): Promise<void>
  entries(): Promise<FrontierEntry[]>
  hostStates(): Promise<HostState[]>
  /** Whether hosts keep their place in line; not so those that left memory in between. */
  readonly keepsPlaces: boolean
  close?(): Promise<void>
}

export type SteadyFrontier = {
  readonly [Name in keyof Frontier]: (...given: Parameters<Frontier[Name]>) => Promise<ReturnType<Frontier[Name]>>
} & Pick<Subject, 'entries' | 'hostStates'>

export function steady(subject: Subject): SteadyFrontier {
  const { frontier } = subject
  const then =
    <Name extends keyof Frontier>(name: Name) =>
    async (...given: Parameters<Frontier[Name]>): Promise<ReturnType<Frontier[Name]>> => {
      const call = frontier[name] as (this: Frontier, ...given: unknown[]) => ReturnType<Frontier[Name]>
      const answer = call.apply(frontier, given)
      await subject.settled()
      return answer
    }
  return {
    offer: then('offer'),
    sendErrand: then('sendErrand'),
    take: then('take'),
    nextReadyMs: then('nextReadyMs'),
    claimAddress: then('claimAddress'),
    conclude: then('conclude'),
    settle: then('settle'),
    rest: then('rest'),
    park: then('park'),
    unpark: then('unpark'),
    setLeastRest: then('setLeastRest'),
    leastRestMs: then('leastRestMs'),
    pagesOf: then('pagesOf'),
    inspect: then('inspect'),
    figures: then('figures'),
    assertSound: then('assertSound'),
    entries: () => subject.entries(),
    hostStates: () => subject.hostStates(),
  }
}
