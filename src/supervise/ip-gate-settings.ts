import type { CrawlSettings } from '../agent/index.ts'
import type { IpGateSettings } from '../frontier/index.ts'

/** What all agents of a crawl go by when they ask an address. */
export function ipGateSettings({ frontier }: CrawlSettings): IpGateSettings {
  return { ipDelayMs: frontier.ipDelay, ipConnections: frontier.ipConnections }
}
