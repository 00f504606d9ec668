import { readdirSync, readlinkSync } from 'node:fs'

/** Sockets and nameless files this process has open. */
export function openDescriptors(): number {
  let count = 0
  for (const name of readdirSync('/proc/self/fd')) {
    try {
      if (/^socket:|\(deleted\)$/.test(readlinkSync(`/proc/self/fd/${name}`))) count++
    } catch {
      // It was the descriptor that listed the others.
    }
  }
  return count
}
