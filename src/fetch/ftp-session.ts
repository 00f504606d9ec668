// A login at one FTP server, kept between files: the control connection and what was learnt over it.
//
//   connect ─▶ 220 ─▶ [AUTH TLS] ─▶ USER, PASS ─▶ TYPE I, FEAT, PWD ─▶ (file, file, …) ─▶ QUIT
//
// Always true: passive mode only, and data comes from the machine the control connection leads to, whatever address a
// reply names; no path is sent that holds a line end; the directory we are in does not matter, since paths are whole.

import type { ClockMs } from '../base/index.ts'
import type { Address } from '../dns/index.ts'
import type { SpooledBody, Truncation } from '../document/index.ts'
import { proxyResolvesNames } from './proxy.ts'
import {
  dataPortOf,
  type FtpReply,
  httpDateOf,
  isGood,
  loginEnd,
  quotedPathOf,
  readReply,
  refusalEnd,
} from './ftp-reply.ts'
import type { Timed } from './deadline-sweep.ts'
import type { Talk, Talks } from './talk.ts'
import { TalkEnd } from './talk-end.ts'
import type { Wire } from './wire.ts'

export interface FtpServer {
  /** `ftp://host[:port]` */
  readonly origin: string
  /** Without brackets. */
  readonly hostname: string
  readonly port: number
  /** TLS from the first byte on, or asked for before the login, or not at all. */
  readonly tls: 'implicit' | 'explicit' | 'none'
  readonly user: string
  readonly password: string
}

/** What a transfer brought. */
export interface Transfer {
  readonly body: SpooledBody
  readonly truncated: Truncation | null
  readonly reply: FtpReply
}

/** What is written down of what was said about one file. */
const CONVERSATION_MAX = 16 * 1024

export class FtpSession implements Timed {
  readonly server: FtpServer
  isBusy = true
  readonly #talks: Talks
  readonly #onUseless: (session: FtpSession) => void
  #wire: Wire | null = null
  #talk: Talk | null = null
  #features = new Set<string>()
  #home = ''
  #hasExtendedPassive = true
  #isProtected = false
  #idleUntilMs = 0
  #conversation = ''

  constructor(server: FtpServer, talks: Talks, onUseless: (session: FtpSession) => void) {
    this.server = server
    this.#talks = talks
    this.#onUseless = onUseless
  }

  /** The other end. */
  get ip(): string {
    return this.#wire?.ip ?? ''
  }

  /** What was said since the session was taken, passwords withheld. */
  get conversation(): string {
    return this.#conversation
  }

  /** Whether an idle session may be asked again. */
  isFresh(nowMs: ClockMs): boolean {
    return nowMs < this.#idleUntilMs && this.#wire?.isOpen === true && !this.#wire.hasPending
  }

  check(nowMs: ClockMs): void {
    if (!this.isBusy && !this.isFresh(nowMs)) this.#onUseless(this)
  }

  has(feature: string): boolean {
    return this.#features.has(feature)
  }

  /** Takes the session for one request, and logs in if that is not done. */
  async begin(talk: Talk, addresses: readonly Address[]): Promise<void> {
    this.isBusy = true
    this.#talk = talk
    this.#conversation = ''
    if (this.#wire !== null) return talk.use(this.#wire)
    const { hostname, port, tls } = this.server
    this.#wire = await talk.connect({ hostname, port, isSecure: tls === 'implicit', isHttp: false }, addresses)
    this.#isProtected = tls === 'implicit'
    await this.#greet()
    await this.#logIn()
    await this.#lookAround()
  }

  /** The connection goes on, however the request ends. */
  leave(): void {
    if (this.#wire !== null) this.#talk?.leave(this.#wire)
  }

  /** Gives the session back; false when it is of no more use. */
  rest(keepMs: number): boolean {
    this.leave()
    this.#talk = null
    this.isBusy = false
    this.#idleUntilMs = this.#talks.clock.nowMs() + keepMs
    return keepMs > 0 && this.isFresh(this.#talks.clock.nowMs())
  }

  /** Says good-bye, without waiting for an answer. Resolves when the connection is closed. */
  close(): Promise<void> {
    const wire = this.#wire
    this.#wire = null
    if (wire === null) return Promise.resolve()
    this.#talk?.leave(wire)
    if (wire.isOpen && !this.isBusy) wire.write('QUIT\r\n')
    return wire.close()
  }

  async say(command: string, shown = command): Promise<FtpReply> {
    const { talk, wire } = this.#parts()
    talk.ask()
    this.#note(shown)
    wire.write(`${command}\r\n`)
    return this.#hear()
  }

  /** The whole path of what a URL names, from where the login begins. Each byte of a name is a character. */
  path(segments: readonly string[]): string {
    const path = segments.join('/')
    // A first name that begins with a slash (`%2F`) says: from the root (RFC 1738, 3.2.2).
    if (path.startsWith('/')) return path
    if (this.#home === '/' || this.#home === '') return `/${path}`
    return path === '' ? this.#home : `${this.#home}/${path}`
  }

  /** The directory we are in, as the server calls it; null where it does not say. */
  async whereabouts(): Promise<string | null> {
    const reply = await this.say('PWD')
    const path = isGood(reply) ? quotedPathOf(reply) : null
    if (path === null || !path.startsWith('/')) return null
    return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
  }

  /** A directory's whole path as that of a URL, with its slash. */
  urlPath(path: string): string {
    const escaped = escapedPath(path)
    if (this.#home === '' || this.#home === '/') return path === '/' ? '/' : `${escaped}/`
    const home = escapedPath(this.#home)
    if (escaped === home) return '/'
    return escaped.startsWith(`${home}/`) ? `${escaped.slice(home.length)}/` : `/%2F${escaped.slice(1)}/`
  }

  /** The date of a file as HTTP writes it, where the server tells. */
  async dateOf(path: string): Promise<string | null> {
    if (!this.has('MDTM')) return null
    const reply = await this.say(`MDTM ${path}`)
    return isGood(reply) ? httpDateOf(reply) : null
  }

  /** Asks for something that comes over a data connection; a refusal comes back as the reply it is. */
  async transfer(command: string): Promise<Transfer | FtpReply> {
    const { talk } = this.#parts()
    const data = await this.#openData()
    const begun = await this.say(command)
    if (begun.code >= 200) {
      talk.leave(data)
      await data.close()
      if (begun.code >= 300) return begun
      return { body: talk.bodyOf(Buffer.alloc(0)), truncated: null, reply: begun }
    }
    if (this.#isProtected) await this.#protect(data)
    const { body, truncated } = await talk.pour(data)
    talk.leave(data)
    await data.close()
    // The server still sends, or believes to: nothing on this connection means anything any more.
    if (truncated !== null) return { body, truncated, reply: begun }
    talk.ask()
    return this.#confirm(body)
  }

  /** Only the server's word tells a whole file from one that broke off. */
  async #confirm(body: SpooledBody): Promise<Transfer> {
    const { talk } = this.#parts()
    try {
      const reply = await this.#hear()
      if (isGood(reply)) return { body, truncated: null, reply }
      if (!talk.request.acceptPartial) throw new TalkEnd('FETCH_BODY_SHORT', `the transfer ended with ${reply.code}`)
      return { body, truncated: 'disconnect', reply }
    } catch (error) {
      const isLost = error instanceof TalkEnd && error.detail !== 'stopped' && error.code === 'FETCH_CONNECTION_LOST'
      if (isLost) throw new TalkEnd('FETCH_BODY_SHORT', 'the connection ended before the transfer was confirmed')
      throw error
    }
  }

  async #greet(): Promise<void> {
    const greeting = await this.#hear()
    if (!isGood(greeting)) throw loginEnd(greeting)
    if (this.server.tls === 'none') return
    if (this.server.tls === 'explicit') {
      const { wire } = this.#parts()
      const reply = await this.say('AUTH TLS')
      if (!isGood(reply)) throw new TalkEnd('FETCH_TLS_FAILED', `no TLS is offered: ${reply.text}`)
      await this.#upgrade(wire)
    }
    // Data is as secret as the words about it.
    await this.say('PBSZ 0')
    const reply = await this.say('PROT P')
    if (!isGood(reply)) throw new TalkEnd('FETCH_TLS_FAILED', `no TLS for data is offered: ${reply.text}`)
    this.#isProtected = true
  }

  async #logIn(): Promise<void> {
    const { user, password } = this.server
    let reply = await this.say(`USER ${user}`)
    if (reply.code === 331) reply = await this.say(`PASS ${password}`, 'PASS [withheld]')
    if (!isGood(reply)) throw loginEnd(reply)
  }

  async #lookAround(): Promise<void> {
    const type = await this.say('TYPE I')
    if (!isGood(type)) throw refusalEnd(type)
    const features = await this.say('FEAT')
    if (isGood(features)) {
      for (const line of features.lines.slice(1, -1)) {
        this.#features.add((line.trim().split(/[\s;]/, 1)[0] ?? '').toUpperCase())
      }
    }
    // Names of servers that tell no paths, or tell them as no other does, are taken from the root.
    this.#home = (await this.whereabouts()) ?? ''
  }

  async #openData(): Promise<Wire> {
    const { talk, wire } = this.#parts()
    let reply: FtpReply | null = null
    if (this.#hasExtendedPassive) {
      reply = await this.say('EPSV')
      if (!isGood(reply)) {
        this.#hasExtendedPassive = false
        reply = null
      }
    }
    reply ??= await this.say('PASV')
    if (!isGood(reply)) throw refusalEnd(reply)
    const { hostname } = this.server
    const addresses: Address[] = proxyResolvesNames(this.#talks.options.proxy)
      ? []
      : [{ ip: wire.ip, family: wire.ip.includes(':') ? 6 : 4 }]
    // TLS begins only once the server has agreed to send.
    return talk.connect({ hostname, port: dataPortOf(reply), isSecure: false, isHttp: false }, addresses)
  }

  async #protect(data: Wire): Promise<void> {
    await this.#upgrade(data, this.#wire?.session)
    this.#talk?.ask()
  }

  /** Servers want to see the session of the control connection again on the data connection: proof that both are ours. */
  async #upgrade(wire: Wire, session?: Buffer): Promise<void> {
    const { hostname, port } = this.server
    this.#talk?.secure()
    await wire.upgrade((socket) =>
      this.#talks.connector.secure(
        { hostname, port, isSecure: true, isHttp: false, ...(session === undefined ? {} : { session }) },
        { socket },
      ),
    )
  }

  async #hear(): Promise<FtpReply> {
    const { wire } = this.#parts()
    const reply = await readReply(wire, this.#talks.options.headMax)
    this.#note(reply.text)
    return reply
  }

  #note(line: string): void {
    if (this.#conversation.length + line.length < CONVERSATION_MAX) this.#conversation += `${line}\r\n`
  }

  #parts(): { readonly talk: Talk; readonly wire: Wire } {
    if (this.#talk === null || this.#wire === null) throw new TalkEnd('FETCH_CONNECTION_LOST', 'stopped')
    return { talk: this.#talk, wire: this.#wire }
  }
}

/** Each byte that is no plain character of a path as its escape. */
function escapedPath(path: string): string {
  return path.replaceAll(
    /[^0-9A-Za-z._~/-]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  )
}
