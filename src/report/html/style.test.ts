// Text can be read in both schemes: the contrast of every pair of text and ground, by the formula of WCAG 2.

import { expect, test } from 'vitest'
import { STYLE } from './style.ts'

const [light = '', dark = ''] = [...STYLE.matchAll(/:root \{([^}]*--page[^}]*)\}/g)].map((match) => match[1] ?? '')

function colour(block: string, name: string): readonly [number, number, number] {
  const hex = new RegExp(`--${name}: #([0-9a-f]{6})[; ]`).exec(block)?.[1]
  if (hex === undefined) throw new Error(`no colour --${name}`)
  return [0, 2, 4].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as [number, number, number]
}

function luminance(rgb: readonly [number, number, number]): number {
  const [red, green, blue] = rgb.map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

const PAIRS = [
  ['ink', 'page'],
  ['ink', 'card'],
  ['soft', 'page'],
  ['soft', 'card'],
  ['accent', 'page'],
  ['accent', 'card'],
  ['good', 'card'],
  ['bad', 'card'],
  ['ink', 'good-wash'],
  ['ink', 'warn-wash'],
  ['ink', 'bad-wash'],
  ['warn', 'warn-wash'],
  ['bad', 'bad-wash'],
] as const

test.each(PAIRS)('%s on %s has a contrast of 4.5 at least, light and dark', (text, ground) => {
  for (const block of [light, dark]) {
    const [a, b] = [luminance(colour(block, text)), luminance(colour(block, ground))].sort((x, y) => y - x) as [
      number,
      number,
    ]
    expect((a + 0.05) / (b + 0.05)).toBeGreaterThanOrEqual(4.5)
  }
})
