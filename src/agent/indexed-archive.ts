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

  write(document: Document, facts: ArchiveFacts): Promise<WarcLocation | null> | WarcLocation | null {
    const location = this.#archive.write(document, facts)
    if (location instanceof Promise) return location.then((place) => this.#note(document, facts, place))
    return this.#note(document, facts, location)
  }

  #note(document: Document, facts: ArchiveFacts, location: WarcLocation | null): WarcLocation | null {
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
