import type { Document } from '../document/index.ts'
import { isKept } from '../store/index.ts'
import type { Archive, ArchiveFacts, ArchiveState, CdxjWriter, WarcLocation } from '../store/index.ts'

/** An archive whose records go into the CDXJ index in the moment they count: no state speaks of one without the other. */
export class IndexedArchive implements Archive {
  readonly #archive: Archive
  readonly #index: CdxjWriter

  constructor(archive: Archive, index: CdxjWriter) {
    this.#archive = archive
    this.#index = index
  }

  write(document: Document, facts: ArchiveFacts): Promise<WarcLocation | null> | WarcLocation | null {
    if (!isKept(document)) return null
    return this.#archive.write(document, facts, (place) => this.#index.append(document, facts, place))
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
