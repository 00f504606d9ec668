// The door to NATS: its libraries are loaded when somebody connects, and not before.

import type { EngineReport } from './check-engine.ts'
import type { Engine } from './engine.ts'
import type { EngineSettings } from './nats-connect.ts'

/** Fails with ENGINE_UNREACHABLE where nobody answers, with ENGINE_UNFIT where what answers is not enough. */
export async function connectEngine(settings: EngineSettings): Promise<Engine> {
  const { connectNats } = await import('./nats-engine.ts')
  return connectNats(settings)
}

/** Looks closer before a crawl of so many logs begins: its races and its limits. */
export async function checkEngine(settings: EngineSettings, logs: number): Promise<EngineReport> {
  const { checkNats } = await import('./check-engine.ts')
  return checkNats(settings, logs)
}
