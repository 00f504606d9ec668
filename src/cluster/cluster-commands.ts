// What is asked of a cluster from outside: that it be there, and that its nodes do something. A wish is a record: it is heard by
// whoever is there now, and by whoever comes later.

import { Fault } from '../base/index.ts'
import { type Engine, ENTRY_BYTES_MAX } from '../engine/index.ts'
import {
  CLUSTER_FORMAT,
  type CrawlDefinition,
  decodeDefinition,
  decodeRecord,
  encodeRecord,
  type Wish,
} from './records.ts'

const NODE_NAME = /^[A-Za-z0-9][\w-]{0,63}$/

/** A name for a node, made of what the machine is called. */
export function nodeNameOf(hostName: string): string {
  const name = hostName
    .replaceAll(/[^\w-]/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 64)
  return name === '' ? 'node' : name
}

export function checkNodeName(name: string): void {
  if (NODE_NAME.test(name)) return
  throw new Fault(
    'CONFIG_INVALID',
    `the name of a node is 1 to 64 letters, digits, '-' and '_', and begins with a letter or digit: not '${name}'`,
  )
}

/** Sets up a crawl. Of several who do, one wins; the others are refused unless theirs is the same crawl. */
export async function initCluster(
  engine: Engine,
  definition: Omit<CrawlDefinition, 'format'>,
): Promise<CrawlDefinition> {
  const whole: CrawlDefinition = { format: CLUSTER_FORMAT, ...definition }
  let value = encodeRecord(whole)
  if (value.length > ENTRY_BYTES_MAX) {
    // Seeds beyond what a record holds are kept beside it, and are there before it is.
    const seedsObject = `seeds.${definition.identity}`
    await engine.objects.put(seedsObject, encodeRecord(definition.seeds))
    value = encodeRecord({ ...whole, seeds: [], seedsObject })
  }
  if (value.length > ENTRY_BYTES_MAX) {
    throw new Fault(
      'CLUSTER_REFUSED',
      `the options of the crawl take more than ${ENTRY_BYTES_MAX} bytes; make them fewer`,
    )
  }
  if ((await engine.records.create('crawl', value)) === 'created') return whole
  const there = await readDefinition(engine)
  if (there.identity === definition.identity) return there
  throw new Fault(
    'CLUSTER_REFUSED',
    `a crawl of this name was set up at ${there.createdAt} (${there.shares} shares, identity ${there.identity}); join it with 'portolan node', or choose another name`,
  )
}

/** What is crawled here. `identity`: of the crawl whose state is in our directory; null: it is empty. */
export async function readDefinition(engine: Engine, identity: string | null = null): Promise<CrawlDefinition> {
  const value = await engine.records.get('crawl')
  if (value === null) {
    throw new Fault(
      'CLUSTER_REFUSED',
      "no crawl of this name is set up in this engine; check the name and the server, or set it up with 'portolan cluster init'",
    )
  }
  const { definition, seedsObject } = decodeDefinition(value)
  if (identity !== null && identity !== definition.identity) {
    throw new Fault(
      'CLUSTER_REFUSED',
      `the directory holds the state of another crawl (identity ${identity}, and the cluster crawls ${definition.identity}); use another directory`,
    )
  }
  if (seedsObject === null) return definition
  const pieces: Uint8Array[] = []
  for await (const piece of engine.objects.get(seedsObject)) pieces.push(piece)
  return { ...definition, seeds: JSON.parse(new TextDecoder().decode(Buffer.concat(pieces))) as string[] }
}

/** Asks the cluster for something. A node must be known; the answer is the number of the wish. */
export async function makeWish(engine: Engine, wish: Wish): Promise<number> {
  if (wish.node !== null) await checkKnown(engine, wish.node)
  for (;;) {
    const number = (await engine.records.list('wish')).length + 1
    if ((await engine.records.create(`wish.${number}`, encodeRecord(wish))) === 'created') return number
  }
}

async function checkKnown(engine: Engine, node: string): Promise<void> {
  const known = new Set<string>()
  for (const record of await engine.records.list('join')) {
    const heard = decodeRecord(record)
    if (heard?.kind === 'join') known.add(heard.join.node)
  }
  if (known.has(node)) return
  const names = [...known].sort().join(', ')
  throw new Fault('CLUSTER_REFUSED', `no node named ${node} was ever here; known are: ${names === '' ? 'none' : names}`)
}
