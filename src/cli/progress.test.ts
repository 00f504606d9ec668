// What a person sees while a crawl runs: it fits the terminal, loses what matters last, and leaves no trace.

import { expect, test } from 'vitest'
import { Progress, type Snapshot } from './progress.ts'

const SNAPSHOT: Snapshot = {
  atMs: 1_000,
  pages: 12_345,
  failed: 67,
  skipped: 890,
  bytes: 123_456_789,
  waiting: 45_678,
  hosts: 321,
  active: 8,
  resting: 300,
  maxPages: null,
  leftMs: null,
  note: '',
}

function terminal(columns: number): {
  stream: { isTTY: true; columns: number; write(text: string): void }
  text: () => string
} {
  let text = ''
  return { stream: { isTTY: true, columns, write: (more) => void (text += more) }, text: () => text }
}

/** The lines painted for a snapshot, without the codes around them. */
function painted(columns: number, change: Partial<Snapshot> = {}): string[] {
  const { stream, text } = terminal(columns)
  const progress = new Progress(stream, 'auto')
  progress.update({ ...SNAPSHOT, ...change })
  return text().replace('\x1b[J', '').split('\x1b[K\n').slice(0, -1)
}

test('a wide terminal shows everything', () => {
  expect(painted(200)).toEqual([
    '12,345 pages · 0.0/s · 118 MiB, 0 B/s · 45,678 waiting · 321 hosts (8 asked, 300 resting) · 67 failed · 890 skipped',
  ])
})

test.for([200, 100, 80, 70, 60, 50, 40])(
  'at %i columns the line fits, is not cut, and keeps failures and skips',
  (columns) => {
    const [line = ''] = painted(columns)
    expect(line.length).toBeLessThan(columns)
    expect(line).not.toContain('…')
    expect(line).toMatch(/^12,345 pages .*67 failed · 890 skipped$/)
  },
)

test('what is left out goes in the order of its worth', () => {
  expect(painted(66)[0]).toBe('12,345 pages · 0.0/s · 45,678 waiting · 67 failed · 890 skipped')
  expect(painted(60)[0]).toBe('12,345 pages · 0.0/s · 67 failed · 890 skipped')
  expect(painted(40)[0]).toBe('12,345 pages · 67 failed · 890 skipped')
})

test('the horizon loses its bar before its figures, and a note never', () => {
  const change = { maxPages: 20_000, leftMs: 598_000, note: 'everybody rests for 12s' }
  expect(painted(200, change)[1]).toBe(
    '[████████████········] 12,345 of 20,000 pages · 9m58s until --max-time · everybody rests for 12s',
  )
  expect(painted(80, change)[1]).toBe('12,345 of 20,000 pages · 9m58s until --max-time · everybody rests for 12s')
  expect(painted(60, change)[1]).toBe('12,345 of 20,000 pages · everybody rests for 12s')
})

test('one is not many', () => {
  const [first, second] = painted(200, { pages: 1, hosts: 1, maxPages: 1, failed: 0, skipped: 0 })
  expect(first).toMatch(/^1 page ·.* · 1 host \(/)
  expect(second).toContain('1 of 1 page')
})

test('what is painted over, taken away or spoken above begins at the left, whatever ^C has left there', () => {
  const { stream, text } = terminal(80)
  const progress = new Progress(stream, 'auto')
  progress.say('first')
  progress.update({ ...SNAPSHOT, maxPages: 20_000 })
  const before = text().length
  progress.update({ ...SNAPSHOT, maxPages: 20_000 })
  expect(text().slice(before)).toMatch(/^\r\x1b\[2A/)
  const painted = text().length
  progress.say('second')
  progress.clear()
  expect(text().startsWith('\r\x1b[Jfirst\n')).toBe(true)
  expect(text().slice(painted)).toBe('\r\x1b[2A\x1b[Jsecond\n\r\x1b[J')
})

test('without a terminal there are no codes: a line every ten seconds, the first after ten', () => {
  let text = ''
  const progress = new Progress({ write: (more) => (text += more) }, 'auto')
  for (let second = 0; second <= 20; second++) progress.update({ ...SNAPSHOT, atMs: second * 1_000, pages: second })
  progress.say('said')
  progress.clear()
  expect(text.split('\n')).toEqual([
    expect.stringMatching(/^10 pages · 1\.0\/s · /),
    expect.stringMatching(/^20 pages · 1\.0\/s · /),
    'said',
    '',
  ])
})
