// What we build on, judged by the lock file: every package is named by a hash, what is shipped may be passed on by anyone,
// nothing runs a script when it is installed but what package.json allows, and each direct one is explained.
//
//   node tools/dependencies.ts            prints what is shipped with its licence, and what is wrong; exits 1 if anything is
//   node tools/dependencies.ts --hashes   first asks the registry for hashes that the lock file lacks (npm leaves some out)

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface LockedPackage {
  readonly version?: string
  readonly license?: string
  integrity?: string
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly link?: boolean
}

export interface LockFile {
  readonly packages: Readonly<Record<string, LockedPackage>>
}

export interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  /** Whether a package may run its install script; what is not named may not have one. */
  readonly allowScripts: Readonly<Record<string, boolean>>
}

/**
 * Licences that let anybody use, change and pass on, with no more than a notice. Unlicense gives up all rights, and where that
 * cannot be done grants them all without conditions; the OSI approved it in 2020 (tweetnacl, which signs nkeys, has it).
 */
const PERMISSIVE = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'CC0-1.0',
  'Unlicense',
])

const FOLDER = 'node_modules/'

/** `@scope/name` of `node_modules/a/node_modules/@scope/name`. */
function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(FOLDER) + FOLDER.length)
}

export function judgeDependencies(lock: LockFile, manifest: Manifest, explained: string): string[] {
  const complaints: string[] = []
  for (const [path, one] of Object.entries(lock.packages)) {
    if (path === '' || one.link === true) continue
    const name = nameOf(path)
    const { license = 'no licence' } = one
    if (one.integrity?.startsWith('sha512-') !== true) complaints.push(`${name}: the lock file has no sha512 of it`)
    if (one.dev !== true && !license.split(/ OR /).some((word) => PERMISSIVE.has(word.replaceAll(/[()]/g, '')))) {
      complaints.push(`${name}: is shipped, and its licence is ${license}`)
    }
    if (one.hasInstallScript === true && !(name in manifest.allowScripts)) {
      complaints.push(`${name}: has an install script that package.json says nothing about (allowScripts)`)
    }
  }
  const words = new Set(explained.split(/[|,\s]+/))
  for (const name of [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)]) {
    if (!words.has(name) && !name.startsWith('@types/')) {
      complaints.push(`${name}: docs/dependencies.md does not say what it is for`)
    }
  }
  return complaints
}

/** Of what is shipped: name, version and licence. */
export function shipped(lock: LockFile): string[] {
  return Object.entries(lock.packages)
    .filter(([path, one]) => path !== '' && one.dev !== true)
    .map(([path, { version, license }]) => `${nameOf(path)} ${version ?? ''}: ${license ?? 'no licence'}`)
}

export function pathOf(file: string): string {
  return fileURLToPath(new URL(`../${file}`, import.meta.url))
}

async function addHashes(): Promise<void> {
  const path = pathOf('package-lock.json')
  const lock = JSON.parse(readFileSync(path, 'utf8')) as LockFile
  for (const [at, one] of Object.entries(lock.packages)) {
    if (at === '' || one.link === true || one.integrity !== undefined || one.version === undefined) continue
    const answer = await fetch(`https://registry.npmjs.org/${nameOf(at)}/${one.version}`)
    const { dist } = (await answer.json()) as { dist?: { integrity?: string } }
    if (dist?.integrity === undefined) throw new Error(`the registry has no hash of ${nameOf(at)} ${one.version}`)
    one.integrity = dist.integrity
  }
  writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--hashes')) await addHashes()
  const read = (file: string): unknown => JSON.parse(readFileSync(pathOf(file), 'utf8'))
  const lock = read('package-lock.json') as LockFile
  const complaints = judgeDependencies(
    lock,
    read('package.json') as Manifest,
    readFileSync(pathOf('docs/dependencies.md'), 'utf8'),
  )
  for (const line of shipped(lock)) console.log(line)
  for (const complaint of complaints) console.error(complaint)
  if (complaints.length > 0) process.exitCode = 1
}
