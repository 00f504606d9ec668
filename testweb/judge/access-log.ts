// What the server was asked, when, and over which connection: the evidence for politeness.
//
// Columns in typed arrays and one arena for the paths, because a bench asks millions of times and an
// object per request would measure the garbage collector. A request costs 34 bytes and its path.

/** One request, as read back. */
export interface LoggedRequest {
  /** When its head had arrived, in milliseconds of the server's monotonic clock. */
  readonly startMs: number
  /** When the last byte of the answer had been handed to the kernel; Infinity while it has not. */
  readonly endMs: number
  /** The host it named, without port. */
  readonly host: string
  /** The address it came to. */
  readonly ip: string
  readonly connection: number
  readonly scheme: 'http' | 'https'
  readonly path: string
  /** 0 when the connection was broken instead. */
  readonly status: number
}

const FIRST_CAPACITY = 1_024

export class AccessLog {
  /** Requests that came after the log was full. Such a log proves nothing, and the checker says so. */
  dropped = 0
  readonly #requestsMax: number
  #length = 0
  #startMs = new Float64Array(FIRST_CAPACITY)
  #endMs = new Float64Array(FIRST_CAPACITY)
  #host = new Uint32Array(FIRST_CAPACITY)
  #ip = new Uint32Array(FIRST_CAPACITY)
  /** Connection × 2, + 1 for https. */
  #connection = new Uint32Array(FIRST_CAPACITY)
  #status = new Uint16Array(FIRST_CAPACITY)
  #pathEnd = new Float64Array(FIRST_CAPACITY)
  #paths = Buffer.alloc(FIRST_CAPACITY * 32)
  readonly #names: string[] = []
  readonly #nameIds = new Map<string, number>()

  constructor(requestsMax: number) {
    this.#requestsMax = requestsMax
  }

  get length(): number {
    return this.#length
  }

  /** Notes a request and returns its number for end(); −1 when the log is full. */
  begin(startMs: number, host: string, ip: string, connection: number, isHttps: boolean, path: string): number {
    const index = this.#length
    if (index >= this.#requestsMax) {
      this.dropped++
      return -1
    }
    if (index === this.#startMs.length) this.#grow()
    this.#length++
    this.#startMs[index] = startMs
    this.#endMs[index] = Number.POSITIVE_INFINITY
    this.#host[index] = this.#idOf(host)
    this.#ip[index] = this.#idOf(ip)
    this.#connection[index] = connection * 2 + (isHttps ? 1 : 0)
    this.#appendPath(index, path)
    return index
  }

  end(index: number, endMs: number, status: number): void {
    if (index < 0) return
    this.#endMs[index] = endMs
    this.#status[index] = status
  }

  at(index: number): LoggedRequest {
    if (index < 0 || index >= this.#length) throw new RangeError(`log: no request ${index}`)
    const connection = this.#connection[index] as number
    return {
      startMs: this.#startMs[index] as number,
      endMs: this.#endMs[index] as number,
      host: this.#names[this.#host[index] as number] ?? '',
      ip: this.#names[this.#ip[index] as number] ?? '',
      connection: connection >>> 1,
      scheme: (connection & 1) === 1 ? 'https' : 'http',
      path: this.#paths.toString('latin1', this.#pathStart(index), this.#pathEnd[index]),
      status: this.#status[index] as number,
    }
  }

  *requests(from = 0): Generator<LoggedRequest> {
    for (let index = from; index < this.#length; index++) yield this.at(index)
  }

  clear(): void {
    this.#length = 0
    this.dropped = 0
  }

  #pathStart(index: number): number {
    return index === 0 ? 0 : (this.#pathEnd[index - 1] as number)
  }

  #appendPath(index: number, path: string): void {
    const start = this.#pathStart(index)
    const end = start + path.length
    if (end > this.#paths.length) {
      const grown = Buffer.alloc(Math.max(end, this.#paths.length * 2))
      this.#paths.copy(grown)
      this.#paths = grown
    }
    this.#paths.write(path, start, 'latin1')
    this.#pathEnd[index] = end
  }

  #idOf(name: string): number {
    let id = this.#nameIds.get(name)
    if (id === undefined) {
      id = this.#names.length
      this.#names.push(name)
      this.#nameIds.set(name, id)
    }
    return id
  }

  #grow(): void {
    const capacity = this.#startMs.length * 2
    this.#startMs = copy(this.#startMs, new Float64Array(capacity))
    this.#endMs = copy(this.#endMs, new Float64Array(capacity))
    this.#host = copy(this.#host, new Uint32Array(capacity))
    this.#ip = copy(this.#ip, new Uint32Array(capacity))
    this.#connection = copy(this.#connection, new Uint32Array(capacity))
    this.#status = copy(this.#status, new Uint16Array(capacity))
    this.#pathEnd = copy(this.#pathEnd, new Float64Array(capacity))
  }
}

function copy<T extends Float64Array | Uint32Array | Uint16Array>(from: T, to: T): T {
  to.set(from)
  return to
}

/** One request as a line of the log file: tab-separated, times in milliseconds. */
export function formatRequest(request: LoggedRequest): string {
  const { startMs, endMs, host, ip, connection, scheme, path, status } = request
  return `${startMs.toFixed(3)}\t${endMs.toFixed(3)}\t${host}\t${ip}\t${connection}\t${scheme}\t${status}\t${path}\n`
}

/** Reads the lines back. The last line may be cut; it is left out. */
export function parseRequests(text: string): LoggedRequest[] {
  const lines = text.split('\n').slice(0, -1)
  return lines.map((line) => {
    const [startMs, endMs, host, ip, connection, scheme, status, path] = line.split('\t')
    if (path === undefined || host === undefined || ip === undefined)
      throw new RangeError(`log: not a request: ${line}`)
    return {
      startMs: Number(startMs),
      endMs: Number(endMs),
      host,
      ip,
      connection: Number(connection),
      scheme: scheme === 'https' ? 'https' : 'http',
      path,
      status: Number(status),
    }
  })
}
