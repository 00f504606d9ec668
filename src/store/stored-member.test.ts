// Members made by hand, judged by three readers: Node's, a strict one that knows where a member ends, and gzip itself.

import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { gzipMembers } from '../../test/warc-frames.ts'
import { storedMember, storedPieces } from './stored-member.ts'

const LEVEL = 4

function inOnePiece(text: Buffer, body: Buffer): Buffer {
  return Buffer.concat([...storedMember(Buffer.concat([text, body]), text.length, LEVEL)])
}

function inPieces(text: Buffer, body: Buffer, pieceBytes: number): Buffer {
  const pieces = [text]
  for (let at = 0; at < body.length; at += pieceBytes) pieces.push(body.subarray(at, at + pieceBytes))
  return Buffer.concat([...storedPieces(pieces, LEVEL)])
}

test('any text and body come back, by themselves and with other members around them', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 3_000 }),
      fc.uint8Array({ minLength: 1, maxLength: 3_000 }),
      fc.integer({ min: 1, max: 4_000 }),
      (text, body, pieceBytes) => {
        const whole = Buffer.concat([text, body])
        const members = [inOnePiece(Buffer.from(text), Buffer.from(body))]
        members.push(inPieces(Buffer.from(text), Buffer.from(body), pieceBytes))
        for (const member of members) expect(gunzipSync(member).equals(whole)).toBe(true)
        const found = gzipMembers(Buffer.concat([...members, ...members]))
        expect(found.map(({ content }) => content.equals(whole))).toEqual([true, true, true, true])
      },
    ),
    { numRuns: 100 },
  )
})

test.each([1, 65_534, 65_535, 65_536, 131_070, 131_071, 1_000_000])(
  'a body of %i bytes is as long as it was, and gzip finds nothing wrong',
  (bytes) => {
    const text = Buffer.from('WARC/1.1\r\nWARC-Type: response\r\n'.repeat(20))
    const body = randomBytes(bytes)
    for (const member of [inOnePiece(text, body), inPieces(text, body, 65_536)]) {
      expect(gzipMembers(member)[0]?.content.equals(Buffer.concat([text, body]))).toBe(true)
      expect(member.length).toBeLessThan(bytes + 150 + 10 * Math.ceil(bytes / 65_535))
      expect(spawnSync('gzip', ['-t'], { input: member })).toMatchObject({ status: 0 })
    }
  },
)
