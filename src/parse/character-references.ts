// Character references: `&amp;`, `&#x41;`, `&copy` without its semicolon.
//
// The list of 2,231 names comes from `entities`, the decoder of parse5 and htmlparser2. A string without `&` is returned as it is.

import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'

/** As in an attribute value: `&copy=1` and `&copyx` stay, so that query strings survive. */
export function decodeAttributeReferences(value: string): string {
  return value.includes('&') ? decodeHTMLAttribute(value) : value
}

/** As in text. */
export function decodeTextReferences(text: string): string {
  return text.includes('&') ? decodeHTML(text) : text
}
