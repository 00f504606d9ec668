// The folder of a crawl that was given none: named after the host of its first seed. A host is written by whoever
// wrote the URL: `http://../` is one, `http://con/` too. Whatever it is, the folder is a new name right here.

import { hash } from 'node:crypto'
import type { HostKey } from '../url/index.ts'

/** Systems take 255 bytes for a name; what is longer is cut and told apart by a digest. */
const NAME_LENGTH_MAX = 100
/** Names that mean a device on Windows, with or without an ending. */
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/

export function directoryNameOf(host: HostKey): string {
  // What is none of these is a letter of no name, but for the brackets and colons of IPv6 literals.
  const plain = host.replaceAll(/[[\]]/g, '').replaceAll(/[^a-z0-9._-]/g, '_')
  // No name that is only dots, none that is hidden, and no dot at the end, which Windows drops.
  const bare = plain.replaceAll(/^\.+|\.+$/g, '')
  const name = bare === '' ? 'crawl' : RESERVED.test(bare) ? `_${bare}` : bare
  const cut = `${name.slice(0, NAME_LENGTH_MAX)}-${hash('sha256', host).slice(0, 8)}`
  return `./${name.length > NAME_LENGTH_MAX ? cut : name}`
}
