// A guard looks after one child at a time: it starts it again when it died, and believes it when it says that it has ended.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { guard, type GuardEnd } from './guard.ts'

/** Runs a script as the child; `life` in it says which child it is, `ended` says so. */
async function guarded(
  script: string,
  input: Buffer | null = null,
): Promise<{ end: GuardEnd; said: string[]; written: () => string }> {
  const dir = mkdtempSync(join(tmpdir(), 'portolan-guard-'))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  const file = join(dir, 'out')
  const before = `
    const { appendFileSync, readFileSync } = require('node:fs')
    const life = Number.parseInt(process.env.PORTOLAN_GUARDED, 10)
    const write = (text) => appendFileSync(${JSON.stringify(file)}, text + ';')
    const ended = (code) => process.send('ended', () => process.exit(code));`
  const said: string[] = []
  const args = ['--input-type=commonjs', '-e', `${before}\n${script}`]
  const end = await guard({ args, input, restartsMax: 2, say: (line) => void said.push(line) })
  return { end, said, written: () => readFileSync(file, 'utf8') }
}

test.for([0, 1, 2, 3, 4])('a child that says it has ended is believed, also with %d', async (code) => {
  const { end, said } = await guarded(`ended(${code})`)
  expect(end).toEqual({ kind: 'ended', code })
  expect(said).toEqual([])
})

test.for(['SIGKILL', 'SIGABRT', 'SIGSEGV'])('a child that dies by %s is started again', async (signal) => {
  const { end, said } = await guarded(`life === 1 ? process.kill(process.pid, '${signal}') : ended(0)`)
  expect(end).toEqual({ kind: 'ended', code: 0 })
  expect(said).toEqual([expect.stringContaining(signal)])
})

test.for(['process.exit(0)', 'process.exit(1)', 'throw new Error("nobody catches this")'])(
  'a child that goes without a word has died: %s',
  async (script) => {
    const { end, said } = await guarded(`if (life === 1) { ${script} } else ended(3)`)
    expect(end).toEqual({ kind: 'ended', code: 3 })
    expect(said).toHaveLength(1)
  },
)

test('a child that dies again and again is given up', async () => {
  const { end, written } = await guarded(`write(life); process.kill(process.pid, 'SIGKILL')`)
  expect(end).toEqual({ kind: 'given-up', why: 'by SIGKILL' })
  expect(written()).toBe('1;2;3;')
})

test('a child that people ended is left alone', async () => {
  const { end, said } = await guarded(`process.kill(process.pid, 'SIGTERM')`)
  expect(end).toEqual({ kind: 'interrupted' })
  expect(said).toEqual([])
})

test('each child reads standard input from its beginning', async () => {
  const script = `write(readFileSync(0, 'utf8')); life === 1 ? process.kill(process.pid, 'SIGKILL') : ended(0)`
  const { written } = await guarded(script, Buffer.from('seeds'))
  expect(written()).toBe('seeds;seeds;')
})
