// The growing files of an agent, as src/replica sends what they grow by: all that batches give a length, but for the archive, which
// stays on its machine.

import type { ReplicaFile } from '../replica/index.ts'
import { FILES } from './crawl-files.ts'
import { editionOf, editionName, type FailuresState } from './failures-file.ts'

const LINES: readonly ReplicaFile[] = Object.entries(FILES)
  .filter(([name]) => name !== 'archive')
  .map(([name, path]) => ({
    name,
    stateOf: (said) => (typeof said === 'number' ? { edition: 0, length: said } : null),
    pathOf: () => path,
    newPathOf: () => path,
  }))

export const REPLICA_FILES: readonly ReplicaFile[] = [
  ...LINES,
  {
    name: 'failures',
    stateOf: (said) => (said === undefined || said === null ? null : (said as FailuresState)),
    pathOf: (dir, edition) => editionOf(dir, { edition, length: 0 } satisfies FailuresState).path,
    newPathOf: editionName,
  },
]
