// The index of a crawl's archive, from those of its shares: what is to be sorted, by whichever thread has time.

import { join } from 'node:path'
import { loadLostFiles, sortCdxj } from '../store/index.ts'

/** Plain data: it crosses to an agent. */
export interface IndexOrder {
  readonly inputs: readonly string[]
  readonly output: string
  /** Files of the archive whose records are left out. */
  readonly lost: readonly string[]
}

/** `names` of the shares in the directory; null where it is the only one. `lost`, besides those that are known as such. */
export async function indexOrderOf(
  dir: string,
  names: readonly string[] | null,
  lost: Iterable<string> = [],
): Promise<IndexOrder> {
  const shares = names === null ? [dir] : names.map((name) => join(dir, name))
  return {
    inputs: shares.map((share) => join(share, 'state/index.cdxj')),
    output: join(dir, 'archive/index.cdxj'),
    lost: [...(await loadLostFiles(dir)), ...lost],
  }
}

export function sortIndex({ inputs, output, lost }: IndexOrder): Promise<void> {
  return sortCdxj(inputs, output, new Set(lost))
}
