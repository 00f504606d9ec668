/**
 * The rooms in the order a URL walks through them. A file may import from its own room and from the
 * doors (`index.ts`; `options.ts` for the schema of its options, so that a thread which is given its settings need not
 * load what checks them) of rooms that stand before it, never after; `tools/tidy.ts` makes that a test.
 */
export const ROOMS = [
  // Ground: knows nothing of crawling.
  'base',
  'disk',
  // The walk of a URL.
  'url',
  'url-seen',
  'frontier',
  'dns',
  'robots',
  'document',
  'fetch',
  'content-seen',
  'parse',
  'processors',
  'store',
  'shelf',
  'traps',
  'strategy',
  // The house that runs the walk.
  'ledger',
  'engine',
  'placement',
  'replica',
  'view',
  'exchange',
  'cluster',
  'agent',
  'supervise',
  'report',
  'catalogue',
  'config',
  'control',
  'cli',
] as const
