// Passages of a page that hold no markup: comments, declarations, CDATA, and the content of elements
// whose text is raw. Each function returns the position after the passage; the length of the text when it
// never ends, for then it swallows the rest, and that is what makes the whole scan linear.

import { isSpace } from './html-names.ts'

const BANG = 33
const DASH = 45
const GREATER = 62

/** Crosses `<!…` at `start`: a comment, a CDATA section where `allowsCdata`, else a doctype or bogus comment up to `>`. */
export function afterDeclaration(text: string, start: number, allowsCdata: boolean): number {
  if (text.charCodeAt(start + 2) === DASH && text.charCodeAt(start + 3) === DASH) return afterComment(text, start + 4)
  if (allowsCdata && text.startsWith('[CDATA[', start + 2)) return after(text, ']]>', start + 9)
  return after(text, '>', start + 2)
}

/** Crosses `<?…`, `</` before a non-letter: everything up to `>`. */
export function afterBogusComment(text: string, start: number): number {
  return after(text, '>', start)
}

function after(text: string, mark: string, start: number): number {
  const found = text.indexOf(mark, start)
  return found === -1 ? text.length : found + mark.length
}

/** From behind `<!--`. `-->` and `--!>` end it, and `>` or `->` right at its start. */
function afterComment(text: string, start: number): number {
  const first = text.charCodeAt(start)
  if (first === GREATER) return start + 1
  if (first === DASH && text.charCodeAt(start + 1) === GREATER) return start + 2
  let position = start
  for (;;) {
    const dashes = text.indexOf('--', position)
    if (dashes === -1) return text.length
    position = dashes + 2
    while (text.charCodeAt(position) === DASH) position++
    const code = text.charCodeAt(position)
    if (code === GREATER) return position + 1
    if (code === BANG && text.charCodeAt(position + 1) === GREATER) return position + 2
  }
}

/** Where the end tag `</name` of a raw text element stands at or after `start`; the length of the text when nowhere. */
export function endOfRawText(text: string, start: number, name: string): number {
  let position = start
  for (;;) {
    const found = text.indexOf('</', position)
    if (found === -1) return text.length
    if (isTagNameAt(text, found + 2, name)) return found
    position = found + 2
  }
}

/** Whether a tag name stands at `start`: lower-case `name` in any case, and then what ends a name. */
function isTagNameAt(text: string, start: number, name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    // Folding by `| 32` is exact here: no other character folds onto a letter but its capital.
    if ((text.charCodeAt(start + index) | 32) !== name.charCodeAt(index)) return false
  }
  const code = text.charCodeAt(start + name.length)
  return code === GREATER || code === 47 || isSpace(code)
}

/**
 * Where the end tag of a script stands. A script may hide a whole other script in `<!-- … -->`
 * (the double escaped states), whose end tag does not count.
 */
export function endOfScript(text: string, start: number, nextCommentStart: number): number {
  const plainEnd = endOfRawText(text, start, 'script')
  if (nextCommentStart === -1 || nextCommentStart >= plainEnd) return plainEnd

  // Without a comment nothing is escaped; within one, `<script` begins and `</script` ends the double escape.
  let isEscaped = false
  let isDouble = false
  for (let position = nextCommentStart; position < text.length; position++) {
    const code = text.charCodeAt(position)
    if (code === 60) {
      if (!isEscaped && text.startsWith('!--', position + 1)) {
        isEscaped = true
        // `<!-->` and `<!--->` end the comment they begin: its own dashes count towards `-->`.
        position += 1
      } else if (text.charCodeAt(position + 1) === 47 && isTagNameAt(text, position + 2, 'script')) {
        if (!isDouble) return position
        isDouble = false
      } else if (isEscaped && !isDouble && isTagNameAt(text, position + 1, 'script')) {
        isDouble = true
      }
    } else if (
      isEscaped &&
      code === GREATER &&
      text.charCodeAt(position - 1) === DASH &&
      text.charCodeAt(position - 2) === DASH
    ) {
      isEscaped = false
      isDouble = false
    }
  }
  return text.length
}
