import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { plainDocument } from '../../test/plain-document.ts'
import { checkWarc } from '../../test/warc-check.ts'
import { archiveConformance, factsOf } from './archive.conformance.ts'
import { MemoryArchive, NullArchive } from './memory-archive.ts'

archiveConformance(() => {
  const archive = new MemoryArchive(randomUUID)
  return Promise.resolve({
    archive,
    read: ({ offset, length }) => Promise.resolve(archive.bytes().subarray(offset, offset + length)),
  })
})

test('what is kept in memory is a valid WARC file', async () => {
  const archive = new MemoryArchive(randomUUID)
  const document = plainDocument('http://127.0.0.1/', 'x')
  await archive.write(document, factsOf(document))
  const { records, problems } = checkWarc(archive.bytes())
  expect(problems).toEqual([])
  expect(records.map(({ type }) => type)).toEqual(['warcinfo', 'response', 'request', 'metadata'])
})

test('the archive that is off keeps nothing and says so', async () => {
  const archive = new NullArchive()
  expect(await archive.write()).toBeNull()
  expect(archive.state()).toBeNull()
  await archive.sync()
  await archive.committed()
  await archive.close()
})
