/** The lines of a text, without their ends: a line feed, or a carriage return and a line feed. */
export function* linesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = text.indexOf('\n', start)
    const lineEnd = end === -1 ? text.length : end
    yield text.slice(start, text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd)
    start = lineEnd + 1
  }
}
