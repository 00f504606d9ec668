// Paths that go round: /a/b/a/b/a/b/, /x/x/x/x/. Made by relative links on a page that answers everywhere.
//
// A run of directories must stand there `times` times in a row; a single directory once more than that, for
// /data/data/data/ exists. Numbers alone make no loop: /1/1/1/1 is a chapter.

import type { CanonicalUrl } from '../url/index.ts'

/** Directories of a run, at most: whoever writes paths of a thousand names must not be paid for it in hours. */
const RUN_MAX = 16

/** The run that repeats, or null. Costs next to nothing for paths of few directories, which most are. */
export function pathLoop(url: CanonicalUrl, times: number): string | null {
  const root = url.indexOf('/', url.indexOf('://') + 3)
  const question = url.indexOf('?')
  const path = url.slice(root + 1, question === -1 ? url.length : question)
  let slashes = 0
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) slashes++
  if (slashes < Math.min(times, 2) || slashes <= times - 1) return null
  const names = path.split('/')
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
