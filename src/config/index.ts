export { jsonComplaint } from './json-complaint.ts'
export { nearest } from './nearest.ts'
export { flagText, type OptionRow, optionRows } from './option-rows.ts'
export { describeIssue, type Problem, unknownName } from './problem.ts'
export { type FlagShape, type ReadArguments, readArguments } from './read-arguments.ts'
export { type Config, type ConfigSources, environmentName, type FlagValue, readConfig } from './read-config.ts'
export { type CrawlSettings as CrawlConfig, SECTIONS } from '../agent/options.ts'
export { isOwnOption, sharedSecrets } from './shared-options.ts'
export {
  describeSaid,
  isKeptSetting,
  isRunLimit,
  loadSettings,
  mergeSaid,
  missingSettings,
  picked,
  type Said,
  storeSettings,
  withoutSecrets,
} from './stored-settings.ts'
