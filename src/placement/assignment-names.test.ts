import { expect, test } from 'vitest'
import { assignmentNamed, findAssignment, RING_REPLICAS } from './assignment-names.ts'

test('assignments are found by name, and say the name they are found by again', () => {
  for (const name of ['rendezvous', 'ring:1', 'ring:200', 'ring:65536']) expect(findAssignment(name)?.name).toBe(name)
  expect(findAssignment('ring')?.name).toBe(`ring:${RING_REPLICAS}`)
})

test('anything else is none, and the complaint says what there is', () => {
  for (const name of [
    '',
    'ring:',
    'ring:0',
    'ring:-1',
    'ring:1.5',
    'ring:65537',
    'ring:1e3',
    'rendezvous:2',
    'toString',
    'Ring',
  ]) {
    expect(findAssignment(name)).toBeNull()
  }
  expect(() => assignmentNamed('jump')).toThrow(/'jump'.*rendezvous, ring/)
})
