export { type BoundedPattern, boundPattern, patternComplaint } from './bounded-pattern.ts'
export { type Clock, type ClockMs, ManualClock, systemClock } from './clock.ts'
export { assert, diskFault, Fault, type FaultCode, FAULTS } from './fault.ts'
export {
  FAULT_POINT_NAMES,
  FAULT_POINTS,
  type FaultPlan,
  type FaultPoint,
  type FaultPoints,
  NO_FAULTS,
  parseFaultPlan,
} from './fault-point.ts'
export { type FaultFigures, FaultTally } from './fault-tally.ts'
export { type Figure, FIGURE_SCOPES, type FigureName, FIGURES, type FigureScope, metricName } from './figure-table.ts'
export { isoDate } from './iso-date.ts'
export { KERNEL_PAGE_BYTES, type KernelExports, kernelMaker, type KernelMemory, newAlignedMemory } from './kernel.ts'
export { Random } from './random.ts'
export { FaultOnPurpose, SeededFaults } from './seeded-faults.ts'
export { type DecodeText, textDecoder } from './text-decoder.ts'
export { formatBytes, formatDuration, parseDuration, parseSize } from './units.ts'
export {
  type FailureCode,
  FAILURES,
  OPT_OUTS,
  type OptOut,
  type RefusalReason,
  REFUSALS,
  type SkipReason,
  SKIPS,
  type StopReason,
  STOPS,
} from './vocabulary.ts'
export type { OptionFacts, OptionKind, RegisteredFacts } from './options.ts'
