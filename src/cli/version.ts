import { readFileSync } from 'node:fs'

/** From package.json, which is where a release is named. Compiled code lies one folder deeper. */
export const VERSION: string = (() => {
  for (const path of ['../../package.json', '../../../package.json']) {
    try {
      return (JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { version: string }).version
    } catch {
      // Not here: the other place.
    }
  }
  return '0.0.0'
})()
