// What a store says when it is opened: the last checkpoint, the hosts it knows, the code its blocks are in. Or what is wrong with it.

import { randomBytes } from 'node:crypto'
import { Fault } from '../base/index.ts'
import { CHECKPOINT_VERSION, type CheckpointFacts } from './checkpoint-writer.ts'
import { GuardedStore } from './guarded-store.ts'
import { KnownHosts } from './known-hosts.ts'
import type { LineStore } from './line-store.ts'

const NEW: CheckpointFacts = {
  version: CHECKPOINT_VERSION,
  batch: 0,
  run: 0,
  waiting: 0,
  hosts: 0,
  known: 0,
  nextBlock: 1,
  nextPage: 1,
  pages: [],
}

export interface OpenedCheckpoint {
  readonly store: GuardedStore
  readonly facts: CheckpointFacts
  readonly known: KnownHosts
}

export async function openCheckpoint(lineStore: LineStore, isNew: boolean): Promise<OpenedCheckpoint> {
  const store = new GuardedStore(lineStore)
  const text = await store.open(isNew)
  const facts = text === null ? NEW : (JSON.parse(text) as CheckpointFacts)
  if (!(facts.version >= 1 && facts.version <= CHECKPOINT_VERSION)) {
    const what = `the waiting URLs in ${lineStore.directory} have version ${facts.version}, not ${CHECKPOINT_VERSION}`
    throw new Fault('LEDGER_VERSION', what)
  }
  await store.readCode()
  if (facts.hasCode === true && store.code === null) throw store.damaged('the code of the blocks is missing')
  const known = new KnownHosts([randomBytes(4).readUInt32LE(), randomBytes(4).readUInt32LE()], facts.known)
  let knownCount = 0
  for await (const fingerprints of store.knownHosts()) {
    known.addAll(fingerprints)
    knownCount += fingerprints.length
  }
  if (knownCount !== facts.known) throw store.damaged(`${facts.known} hosts are known, but ${knownCount} are named`)
  // From here on a store without a checkpoint has lost it.
  if (text === null) await store.writeCheckpoint(store.batch(), JSON.stringify(NEW))
  return { store, facts, known }
}
