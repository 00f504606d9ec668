// Looking up headers in the list they came in: [name, value, name, value …]. Answers have some ten of
// them and few are asked for, so a scan beats building a map; the length is compared before the letters.

/** The first value of a header, by lower-case name; null when absent. */
export function headerValue(rawHeaders: readonly string[], name: string): string | null {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i] as string
    if (candidate.length === name.length && candidate.toLowerCase() === name) return rawHeaders[i + 1] as string
  }
  return null
}

/** All values of a header in order, by lower-case name. */
export function headerValues(rawHeaders: readonly string[], name: string): string[] {
  const values: string[] = []
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const candidate = rawHeaders[i] as string
    if (candidate.length === name.length && candidate.toLowerCase() === name) values.push(rawHeaders[i + 1] as string)
  }
  return values
}
