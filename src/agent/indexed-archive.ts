import type { Document } from '../document/index.ts'
import type { Archive, ArchiveFacts, ArchiveState, CdxjWriter, WarcLocation } from '../store/index.ts'

/** An archive whose records go into the CDXJ index as they are written. */
export class IndexedArchive implements Archive {
  readonly #archive: Archive
  readonly #index: CdxjWriter

  constructor(archive: Archive, index: CdxjWriter) {
    this.#archive = archive
    this.#index = index
  }

  async write(document: Document, facts: ArchiveFacts): Promise<WarcLocation | null> {
    const location = await this.#archive.write(document, facts)
    if (location !== null) this.#index.append(document, facts, location)
    return location
  }

  state(): ArchiveState | null {
    return this.#archive.state()
  }

  sync(): Promise<void> {
    return this.#archive.sync()
  }

  committed(state: ArchiveState | null): Promise<void> {
    return this.#archive.committed(state)
  }

  close(): Promise<void> {
    return this.#archive.close()
  }
}
