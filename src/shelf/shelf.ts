// A place outside the crawl's directory where finished files are kept: a shared directory (directory-shelf.ts) or a bucket
// of an S3-compatible store (s3-shelf.ts). What both promise stands here.

/** What is under way with a file may be watched and cut off. */
export interface Putting {
  readonly signal: AbortSignal
  /** The shelf has taken so many bytes more: it lives. */
  readonly onBytes: (bytes: number) => void
}

export interface Shelf {
  /** As people write it, with a slash at its end; holds no secret. */
  readonly where: string
  /**
   * Puts a file under a name, relative, with slashes. Resolves with its digest when it is there, whole, and was checked;
   * under that name there is never anything else than a whole file. What is there already in the same bytes is not put again;
   * what an interrupted put has left is gone on with, or removed. Throws a Fault: DISK_… where `path` cannot be read or a
   * directory cannot be written, SHELF_… where the store is in the way.
   */
  put(name: string, path: string, putting: Putting): Promise<{ readonly bytes: number; readonly sha256: string }>
  /** Whether a file of this name is there, whoever put it: whole, as always. Throws as `put` does where that cannot be known. */
  has(name: string, signal: AbortSignal): Promise<boolean>
  /** Lets go of connections. */
  close(): void
}
