// A strict reader of WARC 1.1, written apart from the writer: what it does not complain about is a
// record with all its fields, framed as the standard says, whose digests are those of its bytes.
// Complaints are sentences with the byte they are about. It holds a whole file in memory: for tests.

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { type Frame, gzipMembers, zstdFrames } from './warc-frames.ts'

export interface CheckedRecord {
  /** As stored. Without compression the four bytes behind the block count in. */
  readonly offset: number
  readonly length: number
  readonly type: string
  /** By lower-case name. */
  readonly fields: ReadonlyMap<string, readonly string[]>
  readonly block: Buffer
  /** The first value of a field, by name in any case. */
  field(name: string): string | null
  /** The block behind the HTTP header; null when the block is not HTTP. */
  payload(): Buffer | null
}

export interface WarcCheck {
  readonly records: readonly CheckedRecord[]
  readonly problems: readonly string[]
}

export interface CheckOptions {
  /** Accept WARC/1.0 and its drafts, as written by others. */
  readonly anyVersion?: boolean
}

const TYPES = ['warcinfo', 'response', 'resource', 'request', 'metadata', 'revisit', 'conversion', 'continuation']
const URI = /^[A-Za-z][A-Za-z0-9+.-]*:\S+$/
const BRACKETED_URI = /^<[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]+>$/

/** field: the types it must stand on, the types it must not stand on, and what its value must look like. */
const RULES: readonly (readonly [
  field: string,
  mandatory: readonly string[],
  forbidden: readonly string[],
  form?: RegExp | ((value: string) => boolean),
])[] = [
  ['WARC-Type', TYPES, [], /^[A-Za-z]+$/],
  ['WARC-Record-ID', TYPES, [], BRACKETED_URI],
  ['WARC-Date', TYPES, [], /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d{1,9})?[Zz]$/],
  ['Content-Length', TYPES, [], /^\d+$/],
  ['Content-Type', [], [], /^[^\s/]+\/[^\s/;]+\s*(;.*)?$/],
  ['WARC-Concurrent-To', [], ['warcinfo', 'conversion', 'continuation'], BRACKETED_URI],
  ['WARC-Block-Digest', [], [], /^[A-Za-z0-9-]+:\S+$/],
  ['WARC-Payload-Digest', [], [], /^[A-Za-z0-9-]+:\S+$/],
  ['WARC-IP-Address', [], ['warcinfo', 'conversion', 'continuation'], (value) => isIP(value) !== 0],
  ['WARC-Refers-To', [], ['warcinfo', 'response', 'resource', 'request', 'continuation'], BRACKETED_URI],
  ['WARC-Refers-To-Target-URI', [], TYPES.filter((type) => type !== 'revisit'), URI],
  ['WARC-Refers-To-Date', [], TYPES.filter((type) => type !== 'revisit')],
  ['WARC-Target-URI', ['response', 'resource', 'request', 'revisit', 'conversion', 'continuation'], ['warcinfo'], URI],
  ['WARC-Truncated', [], [], /^(length|time|disconnect|unspecified)$/],
  ['WARC-Warcinfo-ID', [], ['warcinfo'], BRACKETED_URI],
  ['WARC-Filename', [], TYPES.filter((type) => type !== 'warcinfo'), /./],
  ['WARC-Profile', ['revisit'], [], URI],
  ['WARC-Identified-Payload-Type', [], [], /^[^\s/]+\/\S+$/],
  ['WARC-Segment-Number', ['continuation'], [], /^[1-9]\d*$/],
  ['WARC-Segment-Origin-ID', ['continuation'], TYPES.filter((type) => type !== 'continuation'), BRACKETED_URI],
  ['WARC-Segment-Total-Length', [], TYPES.filter((type) => type !== 'continuation'), /^\d+$/],
]

export function checkWarcFile(path: string, options: CheckOptions = {}): WarcCheck {
  return checkWarc(readFileSync(path), options)
}

export function checkWarc(bytes: Buffer, options: CheckOptions = {}): WarcCheck {
  const records: CheckedRecord[] = []
  const problems: string[] = []
  try {
    for (const frame of framesOf(bytes)) {
      const isCompressed = frame.content !== bytes
      if (isCompressed && frame.content.length === 0) problems.push(`byte ${frame.offset}: a member with nothing in it`)
      for (let at = 0; at < frame.content.length;) {
        if (isCompressed && at > 0) problems.push(`byte ${frame.offset}: more than one record in a member`)
        const record = readRecord(frame, at, isCompressed, options, problems)
        if (record === null) break
        records.push(record.checked)
        at = record.end
      }
    }
  } catch (cause) {
    problems.push((cause as Error).message)
  }
  return { records, problems }
}

function framesOf(bytes: Buffer): Frame[] {
  const magic = bytes.length >= 4 ? bytes.readUInt32LE(0) : 0
  if ((magic & 0xffff) === 0x8b1f) return gzipMembers(bytes)
  if (magic === 0xfd2fb528) return zstdFrames(bytes)
  return [{ offset: 0, length: bytes.length, content: bytes }]
}

function readRecord(
  frame: Frame,
  at: number,
  isCompressed: boolean,
  options: CheckOptions,
  problems: string[],
): { checked: CheckedRecord; end: number } | null {
  const { content } = frame
  const offset = isCompressed ? frame.offset : at
  const complain = (what: string): void => {
    problems.push(`byte ${offset}: ${what}`)
  }
  const headEnd = content.indexOf('\r\n\r\n', at, 'latin1')
  if (headEnd === -1) {
    complain('no end of a header')
    return null
  }
  const [version = '', ...lines] = content
    .toString('utf8', at, headEnd)
    .replaceAll(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
  if (!/^WARC\/\d+\.\d+$/i.test(version)) {
    complain(`no record begins here, but ${JSON.stringify(version.slice(0, 20))}`)
    return null
  }
  if (options.anyVersion !== true && version !== 'WARC/1.1') complain(`version ${version}`)
  const fields = readFields(lines, complain)
  const field = (name: string): string | null => fields.get(name.toLowerCase())?.[0] ?? null
  const type = (field('WARC-Type') ?? '').toLowerCase()
  checkRules(type, fields, complain)
  const blockAt = headEnd + 4
  const blockBytes = Number(field('Content-Length') ?? 0)
  const blockEnd = blockAt + (Number.isSafeInteger(blockBytes) ? blockBytes : 0)
  if (content.toString('latin1', blockEnd, blockEnd + 4) !== '\r\n\r\n') {
    complain('the block is not followed by two line ends')
  }
  const block = content.subarray(blockAt, blockEnd)
  const end = blockEnd + 4
  const payload = (): Buffer | null => {
    const split = /^application\/http/i.test(field('Content-Type') ?? '') ? block.indexOf('\r\n\r\n') : -1
    return split === -1 ? null : block.subarray(split + 4)
  }
  const checked: CheckedRecord = {
    offset,
    length: isCompressed ? frame.length : end - at,
    type,
    fields,
    block,
    field,
    payload,
  }
  checkContent(checked, complain)
  return { checked, end }
}

function readFields(lines: readonly string[], complain: (what: string) => void): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon < 1 || /[\s()<>@,;:\\"/[\]?={}]/.test(line.slice(0, colon))) {
      complain(`not a field: ${JSON.stringify(line)}`)
      continue
    }
    const name = line.slice(0, colon).toLowerCase()
    const values = fields.get(name)
    if (values === undefined) fields.set(name, [line.slice(colon + 1).trim()])
    else {
      const isOurs = RULES.some(([known]) => known.toLowerCase() === name)
      if (isOurs && name !== 'warc-concurrent-to') complain(`${name} is repeated`)
      values.push(line.slice(colon + 1).trim())
    }
  }
  return fields
}

function checkRules(
  type: string,
  fields: ReadonlyMap<string, readonly string[]>,
  complain: (what: string) => void,
): void {
  if (type !== '' && !TYPES.includes(type)) complain(`unknown type ${type}`)
  for (const [name, mandatory, forbidden, form] of RULES) {
    const values = fields.get(name.toLowerCase())
    const isMandatory = mandatory.includes(type) || mandatory === TYPES
    if (values === undefined || values.every((value) => value === '')) {
      if (isMandatory) complain(`${name} is missing`)
      else if (values !== undefined) complain(`${name} is empty`)
      continue
    }
    if (forbidden.includes(type)) complain(`${name} does not belong on a ${type}`)
    for (const value of values) {
      const isWellFormed = form === undefined || (typeof form === 'function' ? form(value) : form.test(value))
      if (!isWellFormed) complain(`${name} is malformed: ${value}`)
    }
  }
  const segment = Number(fields.get('warc-segment-number')?.[0] ?? Number.NaN)
  if (type === 'continuation' && segment === 1) complain('a continuation is number 1')
  if (type !== 'continuation' && segment > 1) complain(`a ${type} is segment ${segment}`)
}

/** What the fields say of the block against the block. */
function checkContent(record: CheckedRecord, complain: (what: string) => void): void {
  const contentType = record.field('Content-Type')
  if (record.block.length > 0 && contentType === null && record.type !== 'continuation') {
    complain('Content-Type is missing')
  }
  if (record.type === 'warcinfo' && contentType !== null && contentType !== 'application/warc-fields') {
    complain(`a warcinfo of type ${contentType}`)
  }
  checkDigest(record.field('WARC-Block-Digest'), record.block, 'block', complain)
  const payload = record.payload()
  if (record.type === 'revisit') {
    if (record.field('WARC-Payload-Digest') === null) complain('WARC-Payload-Digest is missing')
  } else if (payload !== null) {
    const head = record.block.toString('latin1', 0, record.block.length - payload.length)
    // The payload is what the transfer coding wraps; we do not undo it here.
    if (!/^transfer-encoding:/im.test(head)) {
      checkDigest(record.field('WARC-Payload-Digest'), payload, 'payload', complain)
    }
  }
}

function checkDigest(label: string | null, bytes: Buffer, what: string, complain: (what: string) => void): void {
  const [, algorithm = '', value = ''] = /^(sha1|sha256|md5):(\S+)$/i.exec(label ?? '') ?? []
  if (value === '') return
  const digest = createHash(algorithm.toLowerCase()).update(bytes).digest()
  const forms = [base32(digest), digest.toString('hex'), digest.toString('base64'), digest.toString('base64url')]
  const isSame = (form: string): boolean => form.replace(/=+$/, '') === value.replace(/=+$/, '')
  if (!forms.some(isSame) && digest.toString('hex') !== value.toLowerCase()) {
    complain(`the ${what} digest is ${algorithm}:${base32(digest)}, not ${label}`)
  }
}

function base32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let held = 0
  for (const byte of bytes) {
    held = (held << 8) | byte
    for (bits += 8; bits >= 5; bits -= 5) text += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(held >> (bits - 5)) & 31]
    held &= (1 << bits) - 1
  }
  return bits === 0 ? text : text + 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[(held << (5 - bits)) & 31]
}
