// The laws of the engine, held against real NATS servers: one, and three that keep everything threefold.

import { engineConformance } from '../../src/engine/engine.conformance.ts'
import { connectEngine, type Engine } from '../../src/engine/index.ts'
import { startNats } from '../nats-servers.ts'

for (const servers of [1, 3] as const) {
  engineConformance(
    `${servers} NATS server${servers === 1 ? '' : 's'}`,
    async () => {
      const nats = await startNats({ servers })
      const clients: Engine[] = []
      return {
        async client() {
          // Each begins with another server, as nodes do.
          const client = await connectEngine({
            servers: [nats.urls[clients.length % servers] ?? ''],
            crawl: 'laws',
            replicas: servers === 1 ? '1' : '3',
          })
          clients.push(client)
          return client
        },
        async close() {
          await Promise.all(clients.map(async (client) => client.close()))
          await nats[Symbol.asyncDispose]()
        },
      }
    },
    { clients: 4, races: 40, objectBytes: 3_000_000 },
  )
}
