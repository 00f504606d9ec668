import type { CrawlSettings } from '../agent/index.ts'
import { domainGateSettings, type IpGate, type IpGateSettings, SharedIpGate } from '../frontier/index.ts'

/** What all agents of a crawl go by when they ask an address. */
export function ipGateSettings({ frontier }: CrawlSettings): IpGateSettings {
  return { ipDelayMs: frontier.ipDelay, ipConnections: frontier.ipConnections }
}

/** The memory of the gate of domains; null where they do not rest, or one agent has all hosts. */
export function allocateDomains({ frontier }: CrawlSettings, agents: number): SharedArrayBuffer | null {
  return frontier.domainDelay === 0 ? null : SharedIpGate.allocate(agents)
}

/** An agent's side of it. */
export function domainGateOf(
  domains: SharedArrayBuffer | null,
  agent: number,
  { frontier }: CrawlSettings,
): IpGate | null {
  if (domains === null) return null
  return new SharedIpGate(domains, agent, domainGateSettings(frontier.domainDelay), performance.timeOrigin)
}

/** Gives back what an agent held at both gates when its thread ended. */
export function freeAtGates(
  addresses: SharedArrayBuffer,
  domains: SharedArrayBuffer | null,
  agent: number,
  settings: CrawlSettings,
  commonMs: number,
): void {
  SharedIpGate.freeAgent(addresses, agent, ipGateSettings(settings), commonMs)
  if (domains !== null)
    SharedIpGate.freeAgent(domains, agent, domainGateSettings(settings.frontier.domainDelay), commonMs)
}
