// Test data written by others lives beside the repository, not in it. Tests that read it run where
// it is present and say that they were left out where it is not.

import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const folder = resolve(root, process.env['PORTOLAN_MATERIAL'] ?? '../shared/material')

export const hasMaterial = existsSync(folder)

/** The path of a file of the material, or null where it is not present. */
export function materialPath(topic: string, file = ''): string | null {
  const path = join(folder, topic, file)
  return existsSync(path) ? path : null
}

/** A JSON file of the material, or null where it is not present. */
export function readMaterial<T>(topic: string, file: string): T | null {
  const path = materialPath(topic, file)
  return path === null ? null : (JSON.parse(readFileSync(path, 'utf8')) as T)
}
