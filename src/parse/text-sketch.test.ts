// Texts that are nearly the same have sketches that are nearly the same, in any script; others have not.

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { plainSketch } from '../../test/oracle/plain-sketch.ts'
import { Random } from '../base/index.ts'
import { scanHtml } from './html.ts'
import { parseOptions } from './options.ts'
import { distance, formatSketch, type Sketch } from './text-sketch.ts'

const OPTIONS = parseOptions.parse({})
const LESS = 0x3c
const SPACE = 0x20

/** Of a text, in which a `<` would begin something else. */
function sketchOf(text: string | Buffer): Sketch | null {
  const bytes = Buffer.from(text).map((byte) => (byte === LESS ? SPACE : byte))
  return scanHtml(bytes, { charset: 'utf-8' }, OPTIONS).sketch
}

const sure = (text: string | Buffer): Sketch => sketchOf(text) ?? { high: 0, low: 0, votes: 0, sum: 0 }

const SCRIPTS = {
  latin: { letters: 'abcdefghijklmnopqrstuvwxyz', gap: ' ' },
  cyrillic: { letters: 'абвгдежзийклмнопрстуфхцчшщъыьэюя', gap: ' ' },
  chinese: { letters: '海岸地圖風帆羅針盤港島岬灣潮深星北錨燈塔船員長航日記文字信', gap: '' },
  thai: { letters: 'กขคงจฉชซญดตถทธนบปผพภมยรลวสหอ', gap: '' },
} as const

function wordsOf(script: keyof typeof SCRIPTS, seed: string, count: number): string[] {
  const random = new Random(seed)
  const { letters } = SCRIPTS[script]
  const all = letters.split('')
  const length = script === 'chinese' || script === 'thai' ? 2 : 6
  return Array.from({ length: count }, () => Array.from({ length }, () => random.pick(all)).join(''))
}

describe('a sketch', () => {
  test('is the same for the same text, whatever stretches it came in, and forgets what was before', () => {
    const text = fc.array(fc.stringMatching(/^[a-z ]{1,9}$/), { maxLength: 400 })
    const tag = fc.constantFrom(
      '<b>',
      '</b>',
      '<!-- no -->',
      '<p title="no, not even this, however long it gets to be">',
    )
    fc.assert(
      fc.property(text, fc.array(tag, { minLength: 1 }), (parts, tags) => {
        sketchOf('something else')
        const page = parts.map((part, at) => `${tags[at % tags.length] ?? ''}${part}`).join('')
        expect(scanHtml(Buffer.from(page), { charset: 'utf-8' }, OPTIONS).sketch).toEqual(sketchOf(parts.join(' . ')))
      }),
    )
  })

  test('is what it is in plain words, of any bytes', () => {
    const word = fc.uint8Array({ maxLength: 90 })
    const prose = fc.stringMatching(/^[A-Za-z0-9 éßя海]{0,200}$/).map((text) => new Uint8Array(Buffer.from(text)))
    fc.assert(
      fc.property(fc.array(fc.oneof(word, prose), { maxLength: 12 }), fc.nat(130), (parts, spaces) => {
        const bytes = Buffer.concat([Buffer.alloc(spaces, ' '), ...parts]).map((byte) => (byte === LESS ? SPACE : byte))
        // No escape that says the bytes are Japanese: such a page becomes another.
        const text = Buffer.from(bytes).map((byte) => (byte === 0x1b ? SPACE : byte))
        expect(scanHtml(text, { charset: 'windows-1252' }, OPTIONS).sketch).toEqual(plainSketch(text))
      }),
      { numRuns: 1_000 },
    )
  })

  test('counts as many votes as there are words, also in texts longer than its memory', () => {
    const words = wordsOf('latin', 'many', 20_000)
    expect(sure(words.join(' ')).votes).toBe(words.length)
    expect(sketchOf(' \n\t.,;')).toBeNull()
    expect(sketchOf('')).toBeNull()
    expect(sure('one').votes).toBe(1)
  })

  test('takes the majority bit by bit: a text repeated has the sketch of the text', () => {
    const words = wordsOf('latin', 'again', 333)
    const once = sure(words.join(' '))
    const often = sure(Array.from({ length: 40 }, () => words.join(' ')).join(' '))
    expect(distance(once, often)).toBeLessThanOrEqual(2)
  })

  test.for(Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[])('%s: a small edit turns few bits', (script) => {
    const { gap } = SCRIPTS[script]
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), fc.nat(999), (seed, place) => {
        const words = wordsOf(script, seed, 1_000)
        const edited = words.with(place, words[(place + 500) % 1_000] ?? '')
        const shorter = words.toSpliced(place, 1)
        const before = sure(words.join(gap))
        expect(distance(before, sure(edited.join(gap)))).toBeLessThanOrEqual(8)
        expect(distance(before, sure(shorter.join(gap)))).toBeLessThanOrEqual(8)
      }),
      { numRuns: 30 },
    )
  })

  test.for(Object.keys(SCRIPTS) as (keyof typeof SCRIPTS)[])(
    '%s: small edits stay within 3 bits nearly always, other texts are some 32 away',
    (script) => {
      const { gap } = SCRIPTS[script]
      let near = 0
      let sum = 0
      const rounds = 100
      for (let round = 0; round < rounds; round++) {
        const words = wordsOf(script, `one ${round}`, 1_000)
        const other = wordsOf(script, `other ${round}`, 1_000)
        const before = sure(words.join(gap))
        if (distance(before, sure(words.with(round * 7, other[0] ?? '').join(gap))) <= 3) near++
        const away = distance(before, sure(other.join(gap)))
        expect(away).toBeGreaterThan(10)
        sum += away
      }
      expect(near).toBeGreaterThanOrEqual(90)
      expect(sum / rounds).toBeGreaterThan(28)
      expect(sum / rounds).toBeLessThan(36)
    },
  )

  test('is written as sixteen digits', () => {
    expect(formatSketch({ high: -1, low: 10 })).toBe('ffffffff0000000a')
    fc.assert(
      fc.property(fc.integer(), fc.integer(), (high, low) => {
        const bits = (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0)
        expect(formatSketch({ high, low })).toBe(bits.toString(16).padStart(16, '0'))
      }),
    )
  })
})

describe('the sketch of a page', () => {
  const of = (html: string): Sketch | null => scanHtml(Buffer.from(html), { charset: 'utf-8' }, OPTIONS).sketch

  test('is that of the text a reader sees', () => {
    const text = of('the quick brown fox jumps over the lazy dog')
    expect(text).not.toBeNull()
    const dressed =
      '<title>T</title><style>p{}</style><p>The quick<!-- not --> <b>brown</b> fox</p><script>var x = "no"</script>' +
      '<div title="no">jumps over</div><template>no</template> the lazy dog'
    expect(of(dressed)).toEqual(text)
  })

  test('is null where there is no text, and where nobody wants to know', () => {
    expect(of('<img src=a>')).toBeNull()
    const blind = { ...OPTIONS, simhash: false }
    expect(scanHtml(Buffer.from('<p>text'), { charset: null }, blind).sketch).toBeNull()
  })

  test('starts again with the page that declares another encoding late', () => {
    const late = (head: string): string => `<p>text</p>${' '.repeat(2_000)}${head}<p>more`
    expect(of(late(''))?.votes).toBe(2)
    const bytes = Buffer.from(late('<meta charset=windows-1251>'))
    expect(scanHtml(bytes, { charset: null }, OPTIONS)).toMatchObject({
      encoding: 'windows-1251',
      sketch: { votes: 2 },
    })
  })
})
