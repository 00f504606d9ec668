// The dashboard's files as they were when the server began: a map from path to file, so that no request names a file of its own.
//
// dist/dashboard, in a clone and in the package alike (tools/build-dashboard.js writes it).

import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { diskFault } from '../base/index.ts'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
}
/** A dashboard has a dozen; more is another directory. */
const FILES_MAX = 500

export interface DashboardFile {
  readonly type: string
  readonly cacheControl: string
  read(): Promise<Buffer>
}

export const BUILD_COMMAND = 'node tools/build-dashboard.js'

/** By path; empty where the dashboard is not built. */
export async function loadDashboard(directory: string | null): Promise<ReadonlyMap<string, DashboardFile>> {
  const files = new Map<string, DashboardFile>()
  if (directory === null) return files
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch((cause: unknown) => {
    throw diskFault(`reading the dashboard in ${directory}`, cause)
  })
  for (const entry of entries.slice(0, FILES_MAX)) {
    const type = TYPES[extname(entry.name)]
    if (!entry.isFile() || type === undefined) continue
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(directory.length).replaceAll('\\', '/')
    files.set(name, {
      type,
      // Names of what vite bundles hold a digest of it.
      cacheControl: name.startsWith('/assets/') ? 'public, max-age=31536000, immutable' : 'no-cache',
      read: () => readFile(path),
    })
  }
  const index = files.get('/index.html')
  if (index !== undefined) files.set('/', index)
  return files
}

/** Where it was built; null where it was not. */
export function findDashboard(from: string = import.meta.dirname): string | null {
  let root = from
  while (!existsSync(join(root, 'package.json'))) {
    if (dirname(root) === root) return null
    root = dirname(root)
  }
  const places = [join(root, 'dist/dashboard'), join(root, 'dashboard/dist')]
  return places.find((place) => existsSync(join(place, 'index.html'))) ?? null
}
