export type { EngineReport } from './check-engine.ts'
export { checkEngine, connectEngine } from './connect-engine.ts'
export {
  type Appended,
  type Engine,
  type EngineLog,
  type EngineRecord,
  ENTRY_BYTES_MAX,
  type LogEntry,
  type Objects,
  type Records,
  type ServiceInfo,
  type Stop,
} from './engine.ts'
export { MemoryEngine, type MemoryClient, type MemoryEngineOptions, type Unanswered } from './memory-engine.ts'
export { checkCrawlName, checkName } from './names.ts'
export { type NatsAccess, type NatsCredentials, readNatsAccess } from './nats-credentials.ts'
export type { EngineSettings } from './nats-connect.ts'
