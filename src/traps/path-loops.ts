// Paths that go round: /a/b/a/b/a/b/, /x/x/x/x/. Made by relative links on a page that answers everywhere.
//
// A run of directories must stand there `times` times in a row; a single directory once more than that, for
// /data/data/data/ exists. Numbers alone make no loop: /1/1/1/1 is a chapter.

import type { CanonicalUrl } from '../url/index.ts'

/** Directories of a run, at most: whoever writes paths of a thousand names must not be paid for it in hours. */
const RUN_MAX = 16

const SLASH = 47
const QUESTION = 63

/** The run that repeats, or null. Costs next to nothing for paths of few directories, which most are. */
export function pathLoop(url: CanonicalUrl, times: number): string | null {
  const root = url.indexOf('/', url.indexOf('://') + 3)
  let slashes = 0
  let end = root + 1
  for (; end < url.length; end++) {
    const code = url.charCodeAt(end)
    if (code === QUESTION) break
    if (code === SLASH) slashes++
  }
  if (slashes < Math.min(times, 2) || slashes <= times - 1) return null
  const names = url.slice(root + 1, end).split('/')
  for (let length = 1; length <= RUN_MAX && length * times <= names.length; length++) {
    const needed = length === 1 ? times + 1 : times
    // How many names in a row are the same as the one `length` before.
    let same = 0
    // The last name that is more than a number.
    let wordAt = -1
    for (let at = length; at < names.length; at++) {
      const name = names[at] as string
      same = name === names[at - length] && name !== '' ? same + 1 : 0
      if (same > 0 && !/^\d+$/.test(name)) wordAt = at
      if (same >= length * (needed - 1) && wordAt > at - length) return names.slice(at - length + 1, at + 1).join('/')
    }
  }
  return null
}
