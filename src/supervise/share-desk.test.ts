// What a desk does for a chair, for a former one, and for a question that comes twice.

import { expect, test } from 'vitest'
import type { Standing } from '../agent/index.ts'
import { ShareDesk } from './share-desk.ts'

const STANDING: Standing = { isQuiet: true, moves: 1, waiting: 0, isSpent: false, permits: Infinity, readyInMs: null }

function stand(): { readonly desk: ShareDesk; readonly told: string[]; gone: number | null } {
  const told: string[] = []
  const one = {
    told,
    gone: null as number | null,
    desk: new ShareDesk({
      probe: async (share) => {
        if (share === one.gone) throw new Error('gone')
        return { standing: STANDING, ms: 9 }
      },
      grant: (share, pages) => void told.push(`${share} +${pages}`),
      recall: (share) => {
        told.push(`${share} recalled`)
        one.desk.surrendered(share, 2)
      },
    }),
  }
  one.desk.opened(3, { epoch: 5, pages: 7, chair: 1, change: 0 })
  return one
}

const order = { share: 3, epoch: 5, life: 1, granted: 4, recall: false }

test('a total that comes twice, or after a higher one, grants nothing more', async () => {
  const { desk, told } = stand()
  desk.short(3)
  expect(await desk.answer({ chair: 1, orders: [] })).toMatchObject({ shares: [{ isShort: true, granted: 0 }] })
  await desk.answer({ chair: 1, orders: [order] })
  await desk.answer({ chair: 1, orders: [order] })
  await desk.answer({ chair: 1, orders: [{ ...order, granted: 9 }] })
  const answer = await desk.answer({ chair: 1, orders: [order] })
  expect(told).toEqual(['3 +4', '3 +5'])
  expect(answer).toMatchObject({
    shares: [{ share: 3, epoch: 5, life: 1, pages: 7, granted: 9, isShort: false, ms: 9 }],
  })
})

test('what was given up is in the same answer', async () => {
  const { desk } = stand()
  const answer = await desk.answer({ chair: 1, orders: [{ ...order, recall: true }] })
  expect(answer).toMatchObject({ shares: [{ granted: 4, surrendered: 2 }] })
})

test('an order for another life of the share is for nobody', async () => {
  const { desk, told } = stand()
  desk.lost(3)
  desk.opened(3, { epoch: 5, pages: 8, chair: 1, change: 0 })
  const answer = await desk.answer({ chair: 1, orders: [order, { ...order, epoch: 4, life: 2 }] })
  expect(told).toEqual([])
  expect(answer).toMatchObject({ shares: [{ life: 2, pages: 8, granted: 0 }] })
})

test('a chair is refused once a later one was heard, or was there when a share was taken', async () => {
  const heard = stand()
  await heard.desk.answer({ chair: 2, orders: [] })
  const read = stand()
  read.desk.opened(4, { epoch: 1, pages: 0, chair: 2, change: 0 })
  for (const { desk, told } of [heard, read]) {
    expect(await desk.answer({ chair: 1, orders: [order] })).toEqual({ kind: 'refused', chair: 2 })
    expect(told).toEqual([])
    expect(await desk.answer({ chair: 2, orders: [order] })).toMatchObject({ kind: 'shares' })
    expect(told).toEqual(['3 +4'])
  }
})

test('a share that is gone, or another life by the time it has answered, is not spoken of', async () => {
  const one = stand()
  one.desk.opened(4, { epoch: 1, pages: 0, chair: 1, change: 0 })
  one.gone = 4
  const answer = one.desk.answer({ chair: 1, orders: [] })
  one.desk.opened(3, { epoch: 6, pages: 7, chair: 1, change: 0 })
  expect(await answer).toEqual({ kind: 'shares', shares: [] })
})

test('an answer is the same after it has been JSON', async () => {
  const answer = await stand().desk.answer({ chair: 1, orders: [] })
  expect(JSON.parse(JSON.stringify(answer))).toEqual(answer)
})
