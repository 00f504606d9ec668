// The door to NATS: its libraries are loaded when somebody connects, and not before.

import type { Engine } from './engine.ts'
import type { EngineSettings } from './nats-connect.ts'

/** Fails with ENGINE_UNREACHABLE where nobody answers, with ENGINE_UNFIT where what answers is not enough. */
export async function connectEngine(settings: EngineSettings): Promise<Engine> {
  const { connectNats } = await import('./nats-engine.ts')
  return connectNats(settings)
}
