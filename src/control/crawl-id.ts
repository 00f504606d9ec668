import { basename, resolve } from 'node:path'

/** A crawl's name in paths of the API: that of its directory, as far as that can stand there. */
export function idOf(dir: string): string {
  const name = basename(resolve(dir)).replaceAll(/[^\w.-]/g, '-')
  return name === '' || /^\.+$/.test(name) ? 'crawl' : name
}
