// Writing text in the encodings of the older web. The platform only decodes; the way back is built by
// decoding every two-byte sequence once and turning the table around.

export type Charset = 'utf-8' | 'iso-8859-1' | 'shift_jis' | 'euc-jp' | 'utf-16le'

const tables = new Map<Charset, ReadonlyMap<string, number>>()

/** Bytes of `text`. What the encoding cannot say becomes `&#…;`, as browsers do in forms and queries. */
export function encode(text: string, charset: Charset): Uint8Array {
  switch (charset) {
    case 'utf-8':
      return Buffer.from(text, 'utf8')
    case 'utf-16le':
      // With the byte order mark, which here is the only declaration.
      return Buffer.from(`\uFEFF${text}`, 'utf16le')
    default: {
      const table = tableOf(charset)
      const bytes: number[] = []
      for (const char of text) push(bytes, char, table)
      return Uint8Array.from(bytes)
    }
  }
}

function push(bytes: number[], char: string, table: ReadonlyMap<string, number>): void {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x80) {
    bytes.push(code)
    return
  }
  const found = table.get(char)
  if (found === undefined) {
    for (const digit of `&#${code};`) bytes.push(digit.charCodeAt(0))
  } else if (found > 0xff) bytes.push(found >>> 8, found & 0xff)
  else bytes.push(found)
}

/**
 * The value of a query as the URL standard writes it for a page in `charset`: percent-encoded bytes of
 * that encoding, and of UTF-8 where the page is in any UTF. What the encoding cannot say becomes the
 * percent-encoded form of `&#…;`.
 */
export function encodeQueryWord(word: string, charset: Charset): string {
  let query = ''
  for (const char of word) {
    const bytes = encode(char, charset === 'utf-16le' ? 'utf-8' : charset)
    if (char.charCodeAt(0) >= 0x80 && bytes[0] === 0x26) query += `%26%23${char.codePointAt(0)}%3B`
    else for (const byte of bytes) query += isPlain(byte) ? String.fromCharCode(byte) : percent(byte)
  }
  return query
}

function isPlain(byte: number): boolean {
  return byte > 0x20 && byte < 0x7f && !'"#<>\''.includes(String.fromCharCode(byte))
}

function percent(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
}

function tableOf(charset: Charset): ReadonlyMap<string, number> {
  let table = tables.get(charset)
  if (table === undefined) {
    table = makeTable(charset)
    tables.set(charset, table)
  }
  return table
}

function makeTable(charset: Charset): ReadonlyMap<string, number> {
  const table = new Map<string, number>()
  const decoder = new TextDecoder(charset)
  const add = (code: number, bytes: Uint8Array): void => {
    const char = decoder.decode(bytes)
    // The first way wins: some characters stand in Shift_JIS twice.
    if (char.length === 1 && char !== '\uFFFD' && !table.has(char)) table.set(char, code)
  }
  const isDouble = charset !== 'iso-8859-1'
  for (let lead = 0x80; lead < 0x100; lead++) {
    add(lead, Uint8Array.of(lead))
    if (!isDouble) continue
    for (let trail = 0x40; trail < 0x100; trail++) add((lead << 8) | trail, Uint8Array.of(lead, trail))
  }
  return table
}
