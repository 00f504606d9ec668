// One set of names: whatever is said of a crawl in numbers is said under the names of the table of figures, wherever it is said.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { FAILURES, FIGURES, REFUSALS, SKIPS } from '../../src/base/index.ts'
import {
  agentSchema,
  crawlSchema,
  limitsSchema,
  figuresSchema,
  hostSchema,
  nodeSchema,
  nowSchema,
  sampleSchema,
} from '../../src/control/api.ts'
import { runStatus } from '../../src/cli/status.ts'
import { startTestWeb } from '../../testweb/index.ts'
import { temporaryDirectory } from '../crawl/run-crawl.ts'
import { portolan } from './portolan.ts'

const NAMES: ReadonlySet<string> = new Set(Object.keys(FIGURES))
const BY: Readonly<Record<string, ReadonlySet<string>>> = {
  failures: new Set(Object.keys(FAILURES)),
  skipped: new Set(Object.keys(SKIPS)),
  refused: new Set(Object.keys(REFUSALS)),
  answers: new Set(['2xx', '3xx', '4xx', '5xx', 'other', 'unchanged']),
  // Settings, under the names that the API has for them.
  limits: new Set(Object.keys(limitsSchema.shape)),
}
/** Numbers that count nothing. */
const NO_FIGURES = new Set(['pid'])
/** What holds no figures: settings, as they were said. */
const NO_FIGURES_IN = new Set(['options'])

/** Every number in it, by its name: the last one of its path that is not a place in a list. */
function strangers(said: unknown, path: readonly string[] = []): string[] {
  const name = path.at(-1) ?? ''
  if (typeof said === 'number') {
    // On disk they are files and bytes.
    const within = path[0] === 'disk' ? undefined : BY[path.at(-2) ?? '']
    const isKnown = within === undefined ? NAMES.has(name) || NAMES.has(path.slice(-2).join('.')) : within.has(name)
    return isKnown || NO_FIGURES.has(name) ? [] : [path.join('.')]
  }
  if (Array.isArray(said)) return said.flatMap((one: unknown) => strangers(one, path))
  if (typeof said !== 'object' || said === null || NO_FIGURES_IN.has(name)) return []
  return Object.entries(said).flatMap(([key, value]) => strangers(value, [...path, key]))
}

/** Numbers of a schema, by name. */
function numbersIn(schema: z.ZodObject, within = ''): string[] {
  return Object.entries(schema.shape).flatMap(([name, field]) => {
    const json = z.toJSONSchema(field as z.ZodType) as {
      type?: string
      anyOf?: { type?: string }[]
      properties?: object
    }
    const types = [json.type, ...(json.anyOf ?? []).map(({ type }) => type)]
    if (json.properties !== undefined) return numbersIn(field as z.ZodObject, `${name}.`)
    return types.some((type) => type === 'number' || type === 'integer') ? [`${within}${name}`] : []
  })
}

test('the API', () => {
  const said = {
    figures: numbersIn(figuresSchema),
    now: numbersIn(nowSchema),
    sample: numbersIn(sampleSchema),
    host: numbersIn(hostSchema),
    // Its number is its name, and so is that of the change it runs under.
    agent: numbersIn(agentSchema).filter((name) => name !== 'agent' && name !== 'change'),
    node: numbersIn(nodeSchema),
  }
  expect(said.figures).toContain('pages')
  expect(said.agent).toContain('speed.connections')
  for (const [what, names] of Object.entries(said)) {
    expect([what, names.filter((name) => !NAMES.has(name))]).toEqual([what, []])
  }
  expect(Object.keys(figuresSchema.shape).filter((name) => !NAMES.has(name))).toEqual([])
})

test('a crawl: its result, crawl.json, its course, its log for programs, and its status', async () => {
  const web = await startTestWeb({ hosts: 2, pages: 15, variants: { missing: 0.2 } })
  onTestFinished(() => web.stop())
  const dir = temporaryDirectory(onTestFinished)
  const { code, stdout, stderr } = await portolan([
    'crawl',
    ...web.seeds(),
    ...['--dir', dir, '--allow-private', '--delay', '0s', '--scope', 'any', '--json', '--log', 'json'],
  ])
  expect(code).toBe(0)
  const result = JSON.parse(stdout) as Record<string, unknown>
  expect(strangers(result)).toEqual([])
  expect(strangers(JSON.parse(readFileSync(join(dir, 'crawl.json'), 'utf8')))).toEqual([])
  const course = readFileSync(join(dir, 'state/timeline.jsonl'), 'utf8').trimEnd().split('\n')
  expect(strangers(course.map((line) => JSON.parse(line) as unknown))).toEqual([])

  // Every line is an object with its time and kind; the last says what the result says.
  const log = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  for (const line of log)
    expect(line).toMatchObject({
      time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      kind: expect.any(String) as string,
    })
  expect(log[0]).toMatchObject({ kind: 'crawl', text: expect.stringMatching(/^Crawling /) as string })
  expect(log.at(-1)).toMatchObject({ kind: 'end', stoppedBecause: 'finished', pages: result['pages'] })
  expect(strangers(log)).toEqual([])

  let out = ''
  const streams = { stdout: { write: (text: string) => (out += text) }, stderr: { write: () => {} } }
  await runStatus([dir, '--json'], streams)
  const status = JSON.parse(out) as Record<string, unknown>
  expect(strangers(status)).toEqual([])
  // What the API says of a crawl, under the same names.
  const { figures: _, id: __, can: ___, ...shape } = crawlSchema.shape
  for (const name of [...Object.keys(shape), ...Object.keys(figuresSchema.shape)]) {
    expect([name, name in status]).toEqual([name, true])
  }
})

test('what is wrong is told in words, also where the log is for programs', async () => {
  const { code, stderr } = await portolan(['crawl', 'http://a.test/', '--log', 'xml'])
  expect(code).toBe(2)
  expect(stderr).toContain("--log: 'xml' is not one of text, json")
})
