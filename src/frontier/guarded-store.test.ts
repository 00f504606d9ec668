// A store that lost something says so when it is opened or read.

import { expect, test } from 'vitest'
import type { HostKey } from '../url/index.ts'
import { addendumKey, blockKey, GuardedStore, hostKey } from './guarded-store.ts'
import { MemoryLineStore } from './memory-line-store.ts'

const HOST = 'example.org' as HostKey

/** Three checkpoints, each of two batches; the block of each has its number as text. */
async function written(): Promise<MemoryLineStore> {
  const store = new MemoryLineStore()
  const guarded = new GuardedStore(store)
  await guarded.open(true)
  for (let i = 1; i <= 3; i++) {
    const blocks = guarded.batch()
    blocks.putBlock(blockKey(HOST, 0, i), Buffer.from(String(i)))
    await guarded.write(blocks)
    await guarded.writeCheckpoint(guarded.batch(), `checkpoint ${i}`)
  }
  return store
}

test('what was written is read back', async () => {
  const guarded = new GuardedStore(await written())
  expect(await guarded.open(false)).toBe('checkpoint 3')
  const [first, missing] = await guarded.getMany([blockKey(HOST, 0, 1), blockKey(HOST, 0, 9)])
  expect([first?.toString(), missing]).toEqual(['1', undefined])
})

test('a batch that is missing is seen, whichever it is', async () => {
  const whole = await written()
  const markers = [...whole.values.keys()].filter((key) => key.startsWith('m'))
  expect(markers).toHaveLength(6)
  for (const marker of markers) {
    const store = new MemoryLineStore(whole.values)
    store.values.delete(marker)
    await expect(new GuardedStore(store).open(false)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  }
})

test('a store without a checkpoint is damaged, unless it is new and empty', async () => {
  expect(await new GuardedStore(new MemoryLineStore()).open(true)).toBeNull()
  await expect(new GuardedStore(new MemoryLineStore()).open(false)).rejects.toThrow(/no checkpoint/)
  const store = await written()
  store.values.delete('checkpoint')
  await expect(new GuardedStore(store).open(true)).rejects.toThrow(/no checkpoint/)
})

test('a value under another key is damage, though it is whole', async () => {
  const store = await written()
  const [one, two] = [blockKey(HOST, 0, 1), blockKey(HOST, 0, 2)]
  store.values.set(one, store.values.get(two) as Uint8Array)
  await expect(new GuardedStore(store).getMany([one])).rejects.toThrow(/checksum/)
})

test('what an unfinished checkpoint left is removed when the store is opened', async () => {
  const store = await written()
  const before = [...store.values.keys()].sort()
  const dying = new GuardedStore(store)
  await dying.open(false)
  const blocks = dying.batch()
  blocks.putBlock(blockKey(HOST, 0, 4), Buffer.from('4'))
  await dying.write(blocks)
  expect(store.values.size).toBe(before.length + 2)
  expect(await new GuardedStore(store).open(false)).toBe('checkpoint 3')
  expect([...store.values.keys()].sort()).toEqual(before)
})

test('markers are forgotten when their batches are in no log any more', async () => {
  const store = new MemoryLineStore()
  const guarded = new GuardedStore(store)
  await guarded.open(true)
  for (let i = 0; i < 12; i++) {
    const batch = guarded.batch()
    batch.put(`h${i % 2}`, Buffer.alloc(8 * 2 ** 20))
    await guarded.writeCheckpoint(batch, String(i))
  }
  expect([...store.values.keys()].filter((key) => key.startsWith('m')).length).toBeLessThan(11)
  expect(await new GuardedStore(store).open(false)).toBe('11')
})

test('a host comes with what was added to its record, in order and without those whose names begin alike', async () => {
  const names = ['a', 'a.b', 'a0', 'aa'] as HostKey[]
  const store = new MemoryLineStore()
  const guarded = new GuardedStore(store)
  await guarded.open(true)
  const batch = guarded.batch()
  for (const [count, host] of names.entries()) {
    batch.put(hostKey(host), Buffer.from(host))
    for (let i = 0; i < 10 * count; i++) batch.put(addendumKey(host, i), Buffer.from(String(i)))
  }
  await guarded.write(batch)
  const numbers = (addenda: readonly Buffer[]): number[] => addenda.map((bytes) => Number(bytes.toString()))
  const all = await Array.fromAsync(guarded.hosts())
  expect(all.map(([host, { addenda }]) => [host, addenda.length])).toEqual(names.map((host, i) => [host, 10 * i]))
  for (const [count, host] of names.entries()) {
    const stored = await guarded.host(host)
    expect(stored?.record.toString()).toBe(host)
    expect(numbers(stored?.addenda ?? [])).toEqual(Array.from({ length: 10 * count }, (_, i) => i))
  }
  expect(await guarded.host('b' as HostKey)).toBeUndefined()
})

test('an addendum that is missing before another is seen, and so is one without a record', async () => {
  for (const lost of [hostKey(HOST), addendumKey(HOST, 0), addendumKey(HOST, 1)]) {
    const store = new MemoryLineStore()
    const guarded = new GuardedStore(store)
    await guarded.open(true)
    const batch = guarded.batch()
    for (const key of [hostKey(HOST), addendumKey(HOST, 0), addendumKey(HOST, 1), addendumKey(HOST, 2)])
      batch.put(key, Buffer.from(key))
    await guarded.write(batch)
    store.values.delete(lost)
    await expect(guarded.host(HOST)).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
    await expect(Array.fromAsync(guarded.hosts())).rejects.toMatchObject({ code: 'LEDGER_CORRUPT' })
  }
})
