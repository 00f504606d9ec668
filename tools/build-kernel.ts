// Compiles the kernels: the few inner loops that are WebAssembly, written in AssemblyScript.
//
//   kernel/ROOM/index.ts  ──▶  src/ROOM/kernel-module.ts        node tools/build-kernel.ts (npm run kernel)
//
// What comes out is kept in the repository, in base64, so that a clone runs without a build. It is the same for the same source and
// compiler, whose version is pinned: tools/build-kernel.test.ts compiles again and compares.

import { execFileSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** Nothing is imported, nothing is allocated, nothing is checked that cannot be: a kernel is given addresses and believes them. */
const OPTIONS = [
  '--optimizeLevel',
  '3',
  '--noAssert',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--disableWarning',
  '112',
]

/** Rooms that have a kernel. */
export function kernelRooms(): string[] {
  return readdirSync(`${ROOT}kernel`, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted()
}

export function modulePath(room: string): string {
  return `${ROOT}src/${room}/kernel-module.ts`
}

/** The text of the file that holds the compiled kernel of a room. */
export function kernelModule(room: string): string {
  const wasm = compile(`kernel/${room}/index.ts`)
  return `// Made of kernel/${room}/ by tools/build-kernel.ts (npm run kernel): do not edit.

/** ${wasm.length} bytes of WebAssembly. */
export const KERNEL_BASE64 =
  '${wasm.toString('base64')}'
`
}

/** As a command: the types of the compiler as a library change those of the whole program. */
function compile(entry: string): Buffer {
  const command = fileURLToPath(import.meta.resolve('assemblyscript/bin/asc.js'))
  return execFileSync(process.execPath, [command, entry, ...OPTIONS, '--outFile'], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const room of kernelRooms()) {
    writeFileSync(modulePath(room), kernelModule(room))
    console.log(`kernel/${room} is compiled`)
  }
}
