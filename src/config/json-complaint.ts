// Where a text stops being JSON. The engine names the place for some mistakes only, and quotes the
// file for the others; people want the line.

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const SCALAR = /(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])/y

/** What is wrong with a text that is no JSON, in one line with its place; null when nothing is. */
export function jsonComplaint(text: string): string | null {
  const reader = new Reader(text)
  const isWhole = reader.value() && reader.isAtEnd()
  if (isWhole) return null
  const before = text.slice(0, reader.position)
  const line = before.split('\n').length
  const column = reader.position - before.lastIndexOf('\n')
  const found = text.slice(reader.position)
  return `is not JSON: line ${line}, column ${column}: ${describe(found, before.trimEnd().endsWith(','))}`
}

function describe(found: string, isAfterComma: boolean): string {
  if (found === '') return 'the file ends too early'
  if (/^[}\]]/.test(found) && isAfterComma) return `a comma before '${found[0]}' is one too many`
  if (/^\/[/*]/.test(found)) return 'comments are not allowed'
  if (found.startsWith("'")) return 'texts stand in double quotes'
  if (found.startsWith('"')) {
    STRING.lastIndex = 0
    return STRING.test(found) ? 'a comma is missing before this text' : 'this text does not end, or has a wrong escape'
  }
  const word = /^[\w$.+-]+/.exec(found)?.[0].slice(0, 20) ?? String.fromCodePoint(found.codePointAt(0) ?? 0)
  return `'${word}' cannot stand here`
}

/** Every method reads one thing and says whether it was there; `position` stays at the first that was not. */
class Reader {
  readonly #text: string
  position = 0

  constructor(text: string) {
    this.#text = text
  }

  isAtEnd(): boolean {
    this.#match(SPACE)
    return this.position === this.#text.length
  }

  value(): boolean {
    if (this.#character('{')) return this.#list('}', () => this.#member())
    if (this.#character('[')) return this.#list(']', () => this.value())
    return this.#match(STRING) || this.#match(SCALAR)
  }

  #member(): boolean {
    this.#match(SPACE)
    return this.#match(STRING) && this.#character(':') && this.value()
  }

  #list(end: '}' | ']', item: () => boolean): boolean {
    if (this.#character(end)) return true
    while (item()) {
      if (this.#character(end)) return true
      if (!this.#character(',')) return false
    }
    return false
  }

  #character(wanted: string): boolean {
    this.#match(SPACE)
    if (this.#text[this.position] !== wanted) return false
    this.position++
    return true
  }

  #match(what: RegExp): boolean {
    what.lastIndex = this.position
    if (!what.test(this.#text)) return false
    this.position = what.lastIndex
    return true
  }
}
