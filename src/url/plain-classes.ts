// The characters that every step of canonicalisation leaves alone, and those that end or divide a link: what the two
// short ways (plain-href.ts for strings, kernel/url for bytes) go by.

export const PLAIN_CLASS = { plain: 0, other: 1, hash: 2, question: 3, slash: 4, percent: 5 } as const

/** Class by byte. */
export const PLAIN_CLASSES = new Uint8Array(256).fill(PLAIN_CLASS.other)
for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&()*+,;=:@') {
  PLAIN_CLASSES[char.charCodeAt(0)] = PLAIN_CLASS.plain
}
PLAIN_CLASSES['#'.charCodeAt(0)] = PLAIN_CLASS.hash
PLAIN_CLASSES['?'.charCodeAt(0)] = PLAIN_CLASS.question
PLAIN_CLASSES['/'.charCodeAt(0)] = PLAIN_CLASS.slash
PLAIN_CLASSES['%'.charCodeAt(0)] = PLAIN_CLASS.percent
