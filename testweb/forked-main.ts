// The child's side of forked.ts.

import type { Order, Started } from './forked.ts'
import { startTestWeb, type TestWeb } from './test-web.ts'

let testWeb: TestWeb | null = null

async function obey(order: Order): Promise<unknown> {
  if (order.order === 'start') {
    testWeb = await startTestWeb(order.options)
    const { port, httpsPort, dns, authority } = testWeb
    return {
      ports: { http: port, https: httpsPort },
      dns: { address: dns.address, port: dns.port },
      authority,
    } satisfies Started
  }
  if (testWeb === null) throw new Error('not started')
  switch (order.order) {
    case 'figures': {
      const { user, system } = process.cpuUsage()
      return { requests: testWeb.log.length + testWeb.log.dropped, cpuMs: (user + system) / 1_000 }
    }
    case 'politeness':
      return testWeb.politeness(order.rules)
    default:
      testWeb.reset()
      return null
  }
}

process.on('message', (order: Order) => {
  obey(order).then(
    (answer) => process.send?.({ answer }),
    (cause: unknown) => process.send?.({ fault: cause instanceof Error ? cause.message : String(cause) }),
  )
})
process.on('disconnect', () => process.exit(0))
