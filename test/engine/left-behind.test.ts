// What a node leaves in the engine that dies while it puts an object: parts that belong to nothing, until somebody sweeps.

import { expect, test } from 'vitest'
import { layoutOf } from '../../src/engine/layout.ts'
import { connectLink } from '../../src/engine/nats-connect.ts'
import { NatsObjects } from '../../src/engine/nats-objects.ts'
import { startNats } from '../nats-servers.ts'

test('parts that nothing is made of are swept when no put can still be under way, and no others', async () => {
  await using nats = await startNats()
  const layout = layoutOf('left')
  const link = await connectLink({ servers: nats.urls, crawl: 'left' })
  const objects = await NatsObjects.open(link, layout, 1)
  await objects.put('kept', Buffer.alloc(600_000, 1))
  await link.jetStream.publish(layout.objects.part('dead'), Buffer.alloc(1_000))
  await link.jetStream.publish(layout.objects.part('dead'), Buffer.alloc(1_000))
  expect(await objects.sweep()).toBe(0)
  const later = Date.now() + 61 * 60_000
  expect(await objects.sweep(later)).toBe(1)
  expect(await objects.sweep(later)).toBe(0)
  let bytes = 0
  for await (const piece of objects.get('kept')) bytes += piece.length
  expect(bytes).toBe(600_000)
  await link.close()
})
