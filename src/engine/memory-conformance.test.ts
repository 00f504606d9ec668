import { engineConformance } from './engine.conformance.ts'
import { MemoryEngine } from './memory-engine.ts'

engineConformance(
  'an engine in memory',
  async () => {
    const engine = MemoryEngine.create()
    return { client: async () => engine.client(), close: async () => undefined }
  },
  { clients: 5, races: 200, objectBytes: 1_000_000 },
)
