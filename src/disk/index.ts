export { AppendFile, type AppendFileOptions, BUFFER_BYTES } from './append-file.ts'
export { moveDurably, syncDirectory, writeAtomically } from './atomic-file.ts'
export { type DirectoryLock, lockDirectory, whoHolds } from './directory-lock.ts'
export { LineReader } from './line-reader.ts'
export { makeDirectory } from './make-directory.ts'
export {
  frameBytes,
  FramedLog,
  type FramedLogOptions,
  type FrameScan,
  LOG_START,
  readFrames,
  scanFrames,
} from './framed-log.ts'
export { BlockBuffers, readPastCache } from './past-cache.ts'
export { PacedJob, type Steps, type Syncable } from './paced-job.ts'
export { readPieces } from './read-pieces.ts'
export { sortLines } from './sort-lines.ts'
export { mergeRuns } from './merge-runs.ts'
export { RUN_WINDOW_BLOCKS } from './run-block.ts'
export { RunWriter } from './run-writer.ts'
export { SortedRun } from './sorted-run.ts'
