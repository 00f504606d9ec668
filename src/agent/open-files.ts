// How many sockets the process may have: what the system allows it in open files, less what it needs for files.
//
// Node raises its own soft limit to the hard one when it starts, so that what the process sees of itself is all there is.

import { readFileSync } from 'node:fs'

/** Where the system does not say: less than any of those on which Node runs allow today. */
const OPEN_FILES_ASSUMED = 8_192

/** Of what is allowed: for sockets that are being closed, names being looked up, and bodies too large for memory. */
const SOCKET_SHARE = 0.9
/** The crawl's own files: journal, runs, frontier, archives. */
const OWN_FILES = 128

/** The soft limit in the text of /proc/PID/limits; Infinity for 'unlimited', null when it does not say. */
export function parseOpenFiles(limits: string): number | null {
  const found = /^Max open files +(\d+|unlimited)\b/m.exec(limits)?.[1]
  if (found === undefined) return null
  return found === 'unlimited' ? Infinity : Number(found)
}

/** Open files that this process may have. */
export function openFilesAllowed(path = '/proc/self/limits'): number {
  try {
    return parseOpenFiles(readFileSync(path, 'latin1')) ?? OPEN_FILES_ASSUMED
  } catch {
    // No such file: another system than Linux.
    return OPEN_FILES_ASSUMED
  }
}

export function socketsAllowed(openFiles: number): number {
  return Math.max(1, Math.floor(openFiles * SOCKET_SHARE) - OWN_FILES)
}

export interface SocketPlan {
  readonly connections: number
  readonly connectionsKept: number
  /** What the user should know; null when there is enough for what was asked for. */
  readonly warning: string | null
}

/** What can be had of --connections, and of the connections that are kept idle beside. Busy ones count among those kept. */
export function planSockets(connections: number, connectionsKept: number, openFiles: number): SocketPlan {
  const sockets = socketsAllowed(openFiles)
  const warning =
    connections <= sockets
      ? null
      : `--connections ${connections} needs more open files than the ${openFiles} this process may have: ` +
        `${sockets} are used. Raise the limit (ulimit -n ${openFilesFor(connections)}) for more.`
  return { connections: Math.min(connections, sockets), connectionsKept: Math.min(connectionsKept, sockets), warning }
}

/** Open files that so many sockets take. */
function openFilesFor(sockets: number): number {
  return Math.ceil((sockets + OWN_FILES) / SOCKET_SHARE)
}
