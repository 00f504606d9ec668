// Every name for what may become of a URL or of us: one table, from which come the types, the
// counters, the report's texts and docs/errors.md.
//
// Three families, never mixed. The web did something: a failure (a value). We chose not to:
// a refusal of a link, or a skip of a URL that was already counted as seen (values). We are broken or were asked for
// the impossible: a fault (thrown).

/** The web did what the web does. The prefix names the room that noticed; VISIT_BROKEN is a fault of ours that ends one visit only. */
export const FAILURES = {
  DNS_NO_NAME: 'the name does not exist',
  DNS_NO_ADDRESS: 'the name exists but has no address',
  DNS_TIMEOUT: 'no name server answered in time',
  DNS_SERVER_FAILED: 'the name servers answered with an error',
  FETCH_CONNECT_REFUSED: 'the server refuses connections on that port',
  FETCH_CONNECT_TIMEOUT: 'the connection was not established in time',
  FETCH_CONNECT_FAILED: 'no route to the server, or the network refused',
  FETCH_PROXY_FAILED: 'the proxy refused or failed',
  FETCH_TLS_FAILED: 'the TLS handshake failed or the certificate is not trusted',
  FETCH_CONNECTION_LOST: 'the connection ended before an answer came',
  FETCH_HEAD_TIMEOUT: 'no answer began in time',
  FETCH_HEAD_TOO_LONG: 'the header block is larger than the limit',
  FETCH_HEAD_MALFORMED: 'the answer is not HTTP',
  FETCH_BODY_STALLED: 'the body stopped arriving',
  FETCH_BODY_SHORT: 'the body ended before its announced length',
  FETCH_BODY_MALFORMED: 'the body is framed wrongly (chunks, lengths)',
  FETCH_TIMEOUT: 'the whole request took longer than the limit',
  FETCH_THROTTLED: 'the server asked for a pause (429 or 503)',
  FETCH_SERVER_BUSY:
    'the server or its gateway failed for the moment (408, 502, 504; FTP 450 and its like; a call for calm over HTTP/2)',
  FETCH_SERVER_FULL: 'the FTP server takes no more users for now',
  FETCH_LOGIN_REFUSED: 'the FTP server does not let us in',
  FETCH_NOT_AVAILABLE:
    'there is no such thing, or it is not given out (FTP 550, an error of Gopher, a file that is not there)',
  VISIT_BROKEN: 'something of ours broke on what the server sent; please report it',
} as const
export type FailureCode = keyof typeof FAILURES

/** We met the URL, counted it, and chose not to fetch or keep it. */
export const SKIPS = {
  robots: 'disallowed by robots.txt',
  'robots-unavailable': 'robots.txt could not be had (server error), so nothing may be asked',
  'private-address': 'the host has only private addresses and --allow-private is not set',
  'files-not-allowed': 'a file outside the directories of --allow-files',
  'type-filtered': 'the media type is not wanted',
  'size-filtered': 'the announced length is above the limit',
  'reserved-string': 'the page contains a reserved string',
  'host-budget': 'the host has used up its budget of pages',
  'path-loop': 'its path goes round, or the directories above it all show the same text',
  calendar: 'a page of a calendar without end, too far in the future or the past',
  'session-id': 'it was visited with another value of a parameter that changes nothing',
  'query-explosion': 'one more combination of parameters on a path whose combinations lead nowhere',
  subdomains: 'one more host of a registrable domain whose hosts all begin with the same page',
  'soft-404': 'its directory answers with the page by which the host says that there is none',
  'near-duplicates': 'its directory gives the same text again and again',
  'prefix-budget': 'its directory has used up its budget of pages',
  'domain-budget': 'its registrable domain has used up its budget of pages or hosts',
  'opt-out': 'the site asks that such pages not be used for the purpose of this crawl (--purpose, robots.optOuts)',
  'scope-changed': 'it waited when the scope was changed, and lies outside of it now',
} as const
export type SkipReason = keyof typeof SKIPS

/** What a site may ask that its pages not be used for, whichever of the many ways it says so (decision 0031). */
export const OPT_OUTS = {
  noindex: 'not to be found by search (noindex, none, search=no, unavailable_after in the past)',
  noarchive: 'no copy to be shown to others (noarchive, nocache)',
  nosnippet: 'no excerpt to be shown (nosnippet, max-snippet:0)',
  noimageindex: 'its images not to be found by search (noimageindex)',
  noai: 'no use for AI of any kind (noai, noml)',
  noimageai: 'no use of its images for AI (noimageai)',
  'ai-train': 'no training of models (ai-train=no, train-ai=n)',
  'ai-input': 'no use as input or ground for answers of models (ai-input=no, ai-use=n)',
  tdm: 'text and data mining is reserved (TDM-Reservation: 1, tdmrep.json)',
} as const
export type OptOut = keyof typeof OPT_OUTS

/** A link turned away before the seen set; it may come again by another way. */
export const REFUSALS = {
  'invalid-url': 'not a URL',
  scheme: 'a scheme we do not crawl (mailto:, javascript:, data: …)',
  userinfo: 'carries a user name or password',
  'too-long': 'longer than the limit',
  'out-of-scope': 'outside the scope',
  blocked: 'its host, or a domain it lies in, is blocked (--block)',
  excluded: 'matches --exclude',
  'not-included': 'matches no --include',
  filtered: 'refused by the URL filter of the configuration',
  'too-deep': 'more links away from the seeds than --max-depth',
  'path-too-deep': 'more directories than the limit',
  'redirect-limit': 'too many redirects in a row',
  nofollow: 'the page asks that its links, or this one, not be followed',
} as const
export type RefusalReason = keyof typeof REFUSALS

/** Why a crawl came to its end. */
export const STOPS = {
  finished: 'nothing is left to fetch',
  'max-pages': 'the limit of pages was reached',
  'max-time': 'the limit of time was reached',
  'only-resting': 'every host left rests longer than --max-wait',
  interrupted: 'stopped on request',
  'disk-full': 'the disk is full',
  error: 'a fault of our own',
} as const
export type StopReason = keyof typeof STOPS
