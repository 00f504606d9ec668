// Loads a kernel: a few inner loops in WebAssembly (kernel/, decision 0049).

/** Of the platform's WebAssembly what is needed here; the types of Node.js do not know it. */
interface Platform {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
  readonly Memory: new (limits: { readonly initial: number; readonly maximum: number }) => {
    readonly buffer: ArrayBuffer
  }
}

const { Module, Instance, Memory } = (globalThis as unknown as { WebAssembly: Platform }).WebAssembly

/** Memory of an instance, and all it can read or write. A view is of no use any more once it has grown. */
export interface KernelMemory {
  readonly buffer: ArrayBuffer
  /** By so many times 64 KiB. */
  grow(pages: number): number
}

export const KERNEL_PAGE_BYTES = 65_536

/** What every kernel has; its functions are for the room to name. */
export interface KernelExports {
  readonly memory: KernelMemory
}

/**
 * What makes instances of the kernel that is compiled in `base64`. Each has a memory of its own, and keeps it as long as it lives.
 * Compiled when first asked for, once for all: most commands never do.
 */
export function kernelMaker(base64: string): () => KernelExports {
  let module: object | null = null
  return () => {
    module ??= new Module(Buffer.from(base64, 'base64'))
    return new Instance(module).exports as KernelExports
  }
}

/** Memory that begins at a page of the machine, which no other memory of ours is sure to. It may keep eight GiB of address space: few at a time. */
export function newAlignedMemory(bytes: number): ArrayBuffer {
  const pages = Math.ceil(bytes / KERNEL_PAGE_BYTES)
  return new Memory({ initial: pages, maximum: pages }).buffer
}
