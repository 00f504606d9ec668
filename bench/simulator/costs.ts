// What a page, a link, a message and a batch cost: every figure of the simulation that was measured, with where it was.
// What was not measured stands apart, at the end.

/** docs/benchmarks.md, "Beside others": `--warc gzip --agents 1`, whole process, 51,200 pages of 14 kB, machine nearly idle. */
export const PAGE_US = 861
/** The bar of the cluster: what several nodes may cost more than one. */
export const OVERHEAD_BAR = 0.15

/** The test web's page, as Mercator and its heirs report the web's: links, and how many of them lead to another host. */
export const LINKS_PER_PAGE = 35
/** The test web's. Documentation sites have 0.1 to 22 % (`node bench/link-locality.ts`). */
export const FOREIGN_SHARE = 0.15
/** Decision 0019, `node bench/exchange.ts`: a link packed, crossed, filed and confirmed, 400 in a parcel. */
export const LINK_US = 0.6
export const LINK_BYTES = 73

/** A crawl of 4,000 pages of the test web by two agents, 2026-11-16: bytes a page of the files whose growth goes to the log of a share. */
export const LOG_BYTES_BY_FILE = {
  'pages.jsonl': 640,
  'index.cdxj': 317,
  'links.log': 294,
  'originals.jsonl': 244,
  'batches of the journal': 78,
} as const
export const LOG_BYTES = Object.values(LOG_BYTES_BY_FILE).reduce((sum, bytes) => sum + bytes, 0)
/** The same crawl: pages.jsonl, index and links each as one zstd file of level 3 are 0.19 of their size. 0.25 is a guess at single batches. */
export const LOG_ZSTD = 0.25

/** docs/benchmarks.md, "Scale": bytes on disk for a URL met (merged, at most), a page's content, a URL that waits. */
export const SEEN_BYTES = 9.14
export const SEEN_BYTES_MOST = 19.1
export const CONTENT_BYTES = 14.8
export const WAITING_BYTES = 46

/** `node bench/engine-cost.ts`, one nats-server 2.9.10, crowded machine (load 5 to 27), lines laid by eye through three runs that differ by up to a half: a message of some bytes, at the server and at both ends together. */
export const messageServerUs = (bytes: number): number => 2.2 + 0.0038 * bytes
export const messageClientUs = (bytes: number): number => 6 + 0.0032 * bytes
/** The same: an entry added to a log, file storage, one copy, many logs at once. */
export const appendServerUs = (bytes: number): number => 60 + 0.003 * bytes
export const appendClientUs = (bytes: number): number => 110 + 0.0017 * bytes

/** `node bench/engine-cost.ts --servers 3`: all three servers together, three copies of each entry, and messages that pass from one server to another. */
export const THREE_SERVERS_MESSAGE = 2.2
export const appendThreeServersUs = (bytes: number): number => 520 + 0.028 * bytes

/** src/ledger: batches ten times a second. Decision 0036 and its plan: beats five times a lease of 12 s; a snapshot for every 64 MiB of log. */
export const TICKS_PER_SECOND = 10
export const BEATS_PER_SECOND = 5 / 12
export const SNAPSHOT_LOG_BYTES = 64 * 2 ** 20

// Not measured.

/** New URLs for each page that is fetched, as long as a crawl grows (Dominos' source: 8 new links a page; most are never fetched). */
export const NEW_URLS_PER_PAGE = 8
/** How often state on disk is written anew by merging while it is uploaded in snapshots. */
export const SNAPSHOT_REWRITES = 2
/** A claim or its answer, packed with its address. */
export const CLAIM_BYTES = 150
export const CONFIRMATION_BYTES = 80
export const PARCEL_HEAD_BYTES = 100
export const BEAT_BYTES = 200
/** What a link between machines carries: 10 Gbit/s, half of it used. */
export const NODE_BYTES_PER_SECOND = 0.5 * 1.25e9
