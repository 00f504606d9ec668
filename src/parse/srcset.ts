// The candidates of a srcset attribute, by the WHATWG algorithm: a candidate whose descriptors are
// in error is no candidate.

import { isSpace } from './html-names.ts'

const COMMA = 44
const WIDTH = /^[0-9]+w$/
const HEIGHT = /^[0-9]+h$/
const DENSITY = /^-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?x$/

/** No descriptor that means something is longer. */
const DESCRIPTOR_LENGTH_MAX = 1_000

/** URLs of the valid candidates, in order. */
export function srcsetUrls(value: string): string[] {
  const urls: string[] = []
  let position = 0
  for (;;) {
    while (position < value.length && (value.charCodeAt(position) === COMMA || isSpace(value.charCodeAt(position))))
      position++
    if (position >= value.length) return urls
    const start = position
    while (position < value.length && !isSpace(value.charCodeAt(position))) position++
    let end = position
    while (value.charCodeAt(end - 1) === COMMA) end--
    // A comma right behind the URL ends the candidate before any descriptor.
    if (end < position) {
      urls.push(value.slice(start, end))
      continue
    }
    const after = endOfDescriptors(value, position)
    if (areValid(splitDescriptors(value.slice(position, after)))) urls.push(value.slice(start, end))
    position = after + 1
  }
}

/** The comma that ends the descriptors begun at `start`; one in brackets does not. */
function endOfDescriptors(value: string, start: number): number {
  let isBracketed = false
  for (let position = start; position < value.length; position++) {
    const code = value.charCodeAt(position)
    if (code === 40) isBracketed = true
    else if (code === 41) isBracketed = false
    else if (code === COMMA && !isBracketed) return position
  }
  return value.length
}

/** Split at white space outside brackets. By hand: a regular expression would run out of stack in a descriptor of megabytes. */
function splitDescriptors(text: string): string[] {
  const descriptors: string[] = []
  let isBracketed = false
  let start = -1
  for (let position = 0; position < text.length; position++) {
    const code = text.charCodeAt(position)
    if (!isBracketed && isSpace(code)) {
      if (start !== -1) descriptors.push(text.slice(start, position))
      start = -1
      continue
    }
    if (start === -1) start = position
    if (code === 40) isBracketed = true
    else if (code === 41) isBracketed = false
  }
  if (start !== -1) descriptors.push(text.slice(start))
  return descriptors
}

function areValid(descriptors: readonly string[]): boolean {
  let hasWidth = false
  let hasDensity = false
  let hasHeight = false
  for (const descriptor of descriptors) {
    // Longer than any number: no need to look, and a pattern would run out of stack in one of megabytes.
    if (descriptor.length > DESCRIPTOR_LENGTH_MAX) return false
    if (WIDTH.test(descriptor) && Number.parseInt(descriptor, 10) > 0) {
      if (hasWidth || hasDensity) return false
      hasWidth = true
    } else if (DENSITY.test(descriptor) && Number.parseFloat(descriptor) >= 0) {
      if (hasWidth || hasDensity || hasHeight) return false
      hasDensity = true
    } else if (HEIGHT.test(descriptor) && Number.parseInt(descriptor, 10) > 0) {
      if (hasHeight || hasDensity) return false
      hasHeight = true
    } else {
      return false
    }
  }
  return !hasHeight || hasWidth
}
