// A shelf from what the options say of it.

import { readFile } from 'node:fs/promises'
import { type Clock, diskFault, type Random } from '../base/index.ts'
import { DirectoryShelf } from './directory-shelf.ts'
import type { ShelfOptions } from './options.ts'
import { S3Client } from './s3-client.ts'
import { type Environment, findCredentials, findRegion } from './s3-credentials.ts'
import { S3Shelf } from './s3-shelf.ts'
import { readAddress } from './shelf-address.ts'
import type { Shelf } from './shelf.ts'

export interface ShelfParts {
  readonly options: ShelfOptions
  /** Everything goes below it, so that crawls do not write over each other's files. */
  readonly folder: string
  readonly environment: Environment
  readonly clock: Clock
  readonly random: Random
}

/** Crawls may share a place: each has a folder there, which looks like its directory. The same for all nodes of a crawl. */
export function folderOf({ name, startedAtMs }: { readonly name: string; readonly startedAtMs: number }): string {
  const stamp = new Date(startedAtMs).toISOString().replaceAll(/[-:T]/g, '').slice(0, 14)
  return `${name.replaceAll(/[^A-Za-z0-9._]+/g, '_')}-${stamp}`
}

/** `options.to` must name a place. Asks nobody yet. */
export async function openShelf({ options, folder, environment, clock, random }: ShelfParts): Promise<Shelf> {
  const address = readAddress(options.to)
  if (address.kind === 'directory') return new DirectoryShelf(address.path, folder)
  const { bucket } = address
  const said = options.endpoint || environment['AWS_ENDPOINT_URL_S3'] || environment['AWS_ENDPOINT_URL'] || ''
  const region = options.region || (await findRegion(options, environment)) || 'us-east-1'
  // A certificate of *.s3.… is none for a bucket with dots in its name.
  const isPathStyle = options.style === 'auto' ? said !== '' || bucket.includes('.') : options.style === 'path'
  const client = new S3Client({
    place: { endpoint: new URL(said || `https://s3.${region}.amazonaws.com`), bucket, region, isPathStyle },
    credentials: () => findCredentials(options, environment),
    clock,
    random,
    ca: options.ca === '' ? null : await certificates(options.ca),
    connections: options.parallel,
    silenceMs: options.silence,
  })
  const prefix = `${address.prefix}${folder === '' ? '' : `${folder}/`}`
  return new S3Shelf({ client, bucket, prefix, partBytes: options.partSize })
}

async function certificates(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw diskFault(`reading the certificates in ${path}`, cause)
  }
}
