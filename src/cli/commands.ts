// The commands by name. Each is loaded when it is called: a lens need not wait for the crawler to load.

import type { Command } from './command.ts'

export interface CommandEntry {
  readonly name: string
  /** One line for the list of commands. */
  readonly summary: string
  readonly load: () => Promise<Command>
}

/** In the order of the list. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'crawl',
    summary: 'Crawls sites politely and archives them; run again on the same directory, it goes on.',
    load: async () => (await import('./crawl.ts')).crawlCommand,
  },
  {
    name: 'node',
    summary: 'Takes part in a crawl of several machines: gets its options, its share and its state from the cluster.',
    load: async () => (await import('./node.ts')).nodeCommand,
  },
  {
    name: 'cluster',
    summary: 'Sets a crawl of several machines up, shows who takes part, drains and removes nodes, stops it.',
    load: async () => (await import('./cluster.ts')).clusterCommand,
  },
  {
    name: 'demo',
    summary: 'Crawls a small web that it serves itself, offline, and says where the report is.',
    load: async () => (await import('./demo.ts')).demoCommand,
  },
  {
    name: 'status',
    summary: 'Says how a crawl stands: running or not, how far, how large, and how to go on.',
    load: async () => (await import('./status.ts')).statusCommand,
  },
  {
    name: 'ui',
    summary: 'Serves the dashboard of a crawl, or of a folder of crawls: see them and steer them in a browser.',
    load: async () => (await import('./ui.ts')).uiCommand,
  },
  {
    name: 'top',
    summary:
      'Shows a crawl as it goes, in the terminal: figures, what is slow, hosts, agents and nodes; keys steer it.',
    load: async () => (await import('./top.ts')).topCommand,
  },
  {
    name: 'report',
    summary: 'Makes report.html of a crawl from its files, also while it runs.',
    load: async () => (await import('./report.ts')).reportCommand,
  },
  {
    name: 'explain',
    summary: 'Says why a URL of a crawl was fetched, skipped, refused, or still waits.',
    load: async () => (await import('./explain.ts')).explainCommand,
  },
  {
    name: 'skipped',
    summary: 'Lists the URLs of a crawl that were skipped, with the reason: robots.txt, filters, budgets, traps.',
    load: async () => (await import('./skipped.ts')).skippedCommand,
  },
  {
    name: 'requeue',
    summary: 'Takes back verdicts of a crawl, so that failed or skipped URLs, or pages, are asked for again.',
    load: async () => (await import('./requeue.ts')).requeueCommand,
  },
  {
    name: 'checkpoint',
    summary: 'Copies a crawl as it stands, also while it runs, to start from later.',
    load: async () => (await import('./checkpoint.ts')).checkpointCommand,
  },
  {
    name: 'repair',
    summary: 'Looks at every part of a crawl for damage, and saves what can be saved.',
    load: async () => (await import('./repair.ts')).repairCommand,
  },
  {
    name: 'url',
    summary: 'Show the canonical form of links, their host key, slot and fingerprint.',
    load: async () => (await import('./url-lens.ts')).urlLens,
  },
  {
    name: 'links',
    summary: 'List the links of an HTML page, canonical, in document order.',
    load: async () => (await import('./links-lens.ts')).linksLens,
  },
  {
    name: 'robots',
    summary: 'Say what a robots.txt allows a crawler, and which line decides.',
    load: async () => (await import('./robots-lens.ts')).robotsLens,
  },
  {
    name: 'testweb',
    summary: 'Serve a synthetic web on 127.0.0.0/8, to crawl offline.',
    load: async () => (await import('./testweb.ts')).testwebCommand,
  },
  {
    name: 'bench',
    summary: 'Measures: the whole crawler against other crawlers, or one room.',
    load: async () => (await import('./bench.ts')).benchCommand,
  },
]
