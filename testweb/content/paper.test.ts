// Both kinds of paper hold the same page.

import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Filler } from './filler.ts'
import { BytePaper, TextPaper } from './paper.ts'

const filler = new Filler()

test('what is written comes out the same as bytes and as text, however long it grows', () => {
  const part = fc.oneof(
    fc.string({ maxLength: 300 }).map((text) => ({ text: Buffer.from(text, 'latin1').toString('latin1') })),
    fc.record({ hash: fc.nat(), chars: fc.integer({ min: -5, max: 200_000 }) }),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
      const [bytes, text] = [new BytePaper(filler, 16), new TextPaper(filler)]
      for (const paper of [bytes, text]) {
        for (const each of parts) {
          if ('text' in each) paper.text(each.text)
          else paper.filler('en', each.hash, each.chars)
        }
      }
      expect(bytes.body().toString('latin1')).toBe(text.toString())
      expect(bytes.length).toBe(text.toString().length)
    }),
  )
})

test('the head stands right before the body, whatever its length', () => {
  for (const length of [0, 10, BytePaper.HEAD_ROOM, BytePaper.HEAD_ROOM + 1]) {
    const paper = new BytePaper(filler)
    paper.text('body')
    expect(paper.withHead('h'.repeat(length)).toString('latin1')).toBe(`${'h'.repeat(length)}body`)
  }
})

test('paper that was cleared is empty', () => {
  const paper = new BytePaper(filler)
  paper.text('old')
  paper.clear()
  paper.bytes(Buffer.from('new'))
  expect(paper.body().toString()).toBe('new')
})

test('only English has one byte per character', () => {
  expect(() => new BytePaper(filler).filler('ru', 0, 5)).toThrow('needs an encoding')
})
