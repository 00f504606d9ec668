/** The value of an Authorization header. RFC 7617 leaves the charset open; UTF-8 is what servers expect. */
export function basicCredentials(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`
}
