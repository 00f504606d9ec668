// A Fault says that we are broken or were asked for the impossible. It is thrown, carries a stable
// code and what to do about it, and nobody inside the walk catches it.

export const FAULTS = {
  CONFIG_INVALID: 'arguments or configuration are wrong',
  DISK_FULL: 'the disk is full',
  DISK_READ_ONLY: 'no permission there, or the file system is read-only',
  DISK_FAILED: 'the disk failed to read or write',
  LEDGER_CORRUPT: 'the state of the crawl is damaged',
  LEDGER_VERSION: 'the state was written by another version of the format',
  LEDGER_LOCKED: 'another process is working in this directory',
  ENGINE_UNREACHABLE: 'the engine that the nodes share did not answer in time',
  ENGINE_UNFIT: 'the engine that the nodes share cannot do what a crawl needs of it',
  ENGINE_FULL: 'the engine that the nodes share has no room left',
  LOG_TRIMMED: 'entries of a log that were asked for are gone',
  OBJECT_MISSING: 'the engine has no such object, or not all of it',
  CALL_FAILED: 'a node answered a question with an error',
  CALL_UNANSWERED: 'nobody answered a question in time',
  NODE_FENCED: 'this node has lost touch with its cluster, and does nothing until it is back',
  SHARE_LOST: 'another node has taken this share',
  CLUSTER_REFUSED: 'the cluster does not let this node take part',
  SHELF_UNREACHABLE: 'the place for finished archives (--archive-to) cannot be reached; it is tried again',
  SHELF_REFUSED: 'the place for finished archives refuses us: keys, rights or its name are wrong',
  SHELF_DIFFERS: 'what stands at the place for finished archives is not what was put there',
  CONTROL_UNKNOWN: 'there is no such crawl, host or node here',
  CONTROL_REFUSED: 'as the crawl stands, it cannot do what it was asked for',
  ASSERTION: 'a promise inside Portolan was broken; please report it',
} as const
export type FaultCode = keyof typeof FAULTS

export class Fault extends Error {
  override readonly name = 'Fault'
  readonly code: FaultCode

  constructor(code: FaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
  }
}

/** States what must be true here. `what` names the broken promise, with the values that broke it. */
export function assert(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Fault('ASSERTION', what)
}

/** Turns an errno of the file system into a fault a person can act on. */
export function diskFault(doing: string, cause: unknown): Fault {
  if (cause instanceof Fault) return cause
  const errno = (cause as NodeJS.ErrnoException | null)?.code ?? 'unknown error'
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new Fault(
      'DISK_FULL',
      `${doing}: no space left on the disk; free some and run the same command again`,
      cause,
    )
  }
  if (errno === 'EROFS') {
    return new Fault('DISK_READ_ONLY', `${doing}: read-only file system (${errno}); use another directory`, cause)
  }
  // Reading may be forbidden as well as writing; `doing` says which it was.
  if (errno === 'EACCES' || errno === 'EPERM') {
    return new Fault(
      'DISK_READ_ONLY',
      `${doing}: no permission (${errno}); check the permissions, or use another directory`,
      cause,
    )
  }
  // Node's message begins with the errno.
  return new Fault('DISK_FAILED', `${doing}: ${cause instanceof Error ? cause.message : errno}`, cause)
}
