// What must be true of the lines of hosts at hand, whatever happened: for tests.

import { assert } from '../base/index.ts'
import type { DiskHost } from './disk-host.ts'
import type { EntryLines } from './entry-lines.ts'

export function assertLinesSound(hosts: Iterable<DiskHost>, lines: EntryLines): void {
  let rows = 0
  let packed = 0
  for (const host of hosts) {
    let waiting = host.later?.length ?? 0
    for (let line = host.best; line !== null; line = line.worse) {
      let left = 0
      for (const segment of line.segments()) left += segment.left
      assert(left === line.waiting, `${host.key} has ${left} URLs in band ${line.band}, ${line.waiting} counted`)
      waiting += left
    }
    assert(waiting === host.waiting, `${host.key} has ${waiting} URLs in line, ${host.waiting} counted`)
    rows += host.inMemory
    packed += host.packedBytes
  }
  const { charged } = lines
  assert(packed === charged, `segments take ${packed} bytes of memory, ${charged} are charged`)
  assert(rows === lines.count, `${rows} URLs are in memory, ${lines.count} counted`)
}
