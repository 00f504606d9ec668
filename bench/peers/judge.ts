// Did a crawler fetch the pages there are, all of them and nothing else? Judged by the log of the server.

export interface Verdict {
  /** Different pages of the web that were fetched. */
  readonly pages: number
  /** GETs that were answered with 200, whatever the URL: the work that was done, and what costs are divided by. */
  readonly answers: number
  /** Pages of the web that were not asked for. */
  readonly missing: number
  /** URLs that are no pages of the web, robots.txt not counted. */
  readonly extra: number
  /** Requests for pages beyond one each. */
  readonly repeated: number
  readonly robotsRequests: number
  /** Share of the answers that travelled compressed. */
  readonly gzipShare: number
  /** A few of the missing and the extra, to look into. */
  readonly examples: readonly string[]
}

const EXAMPLES = 4

export function judge(log: readonly string[], expected: ReadonlySet<string>): Verdict {
  // How a crawler writes an escape is its own business: %C3 and %c3 are one page.
  const truth = new Map([...expected].map((url) => [decodeURI(url), url]))
  const got = new Set<string>()
  const extra = new Set<string>()
  let requests = 0
  let answers = 0
  let robotsRequests = 0
  let gzipped = 0
  for (const line of log) {
    const [method, url = '', status, coding] = line.split(' ')
    if (line === '') continue
    const isAnswer = method === 'GET' && status === '200'
    if (url.endsWith('/robots.txt')) {
      robotsRequests++
      continue
    }
    if (isAnswer) answers++
    if (isAnswer && coding === 'gzip') gzipped++
    const page = decodeURI(url)
    if (!truth.has(page)) {
      extra.add(url)
      continue
    }
    requests++
    if (isAnswer) got.add(page)
  }
  const missing = [...truth.keys()].filter((page) => !got.has(page))
  return {
    pages: got.size,
    answers,
    missing: missing.length,
    extra: extra.size,
    repeated: requests - got.size,
    robotsRequests,
    gzipShare: answers === 0 ? 0 : gzipped / answers,
    examples: [
      ...missing.slice(0, EXAMPLES).map((page) => `missing ${truth.get(page)}`),
      ...[...extra].slice(0, EXAMPLES).map((url) => `extra ${url}`),
    ],
  }
}
