// The little XML that S3 speaks: answers of known shape, of which single elements are wanted. No parser, for nothing in it
// decides what code runs; what is not found is null, and whoever asks judges that.

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The text of the first element of this name. */
export function textIn(xml: string, name: string): string | null {
  const found = new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)</(?:\\w+:)?${name}>`).exec(xml)?.[1]
  return found === undefined ? null : unescape(found)
}

/** What stands inside each element of this name. */
export function elementsIn(xml: string, name: string): string[] {
  const pattern = new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([\\s\\S]*?)</(?:\\w+:)?${name}>`, 'g')
  return [...xml.matchAll(pattern)].map((match) => match[1] ?? '')
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function unescape(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w{1,8}));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name as string] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}
