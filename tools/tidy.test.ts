// The house rules hold for the house, and the rules themselves can tell right from wrong.

import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readSources, tidy } from './tidy.ts'

const complaintsOf = (...files: [path: string, text: string][]): string[] =>
  tidy(files.map(([path, text]) => ({ path, text }))).map((one) => one.what)

test('the house is in order', () => {
  expect(tidy(readSources(fileURLToPath(new URL('..', import.meta.url))))).toEqual([])
})

test('a room may not import a room that stands after it', () => {
  expect(complaintsOf(['src/url/parse.ts', `import { x } from '../fetch/index.ts'\n`])).toEqual([
    `'url' stands before 'fetch' and may not import it`,
  ])
})

test('another room is entered by its door only, over several lines too', () => {
  expect(complaintsOf(['src/fetch/http.ts', `import {\n  x,\n  y,\n} from '../url/parse.ts'\n`])).toEqual([
    'go through a door: import src/url/index.ts or options.ts',
  ])
})

test('what checks settings is loaded by options and schemas only, for others by type', () => {
  const what = 'checks settings: only options.ts and *-schema.ts load it, others import its types'
  expect(complaintsOf(['src/url/scope.ts', `import { z } from 'zod'\n`])).toEqual([`zod ${what}`])
  expect(complaintsOf(['src/url/index.ts', `export { type A, b } from './options.ts'\n`])).toEqual([
    `./options.ts ${what}`,
  ])
  expect(complaintsOf(['src/url/index.ts', `export { type A } from './options.ts'\n`])).toEqual([])
  expect(complaintsOf(['src/url/filter-schema.ts', `import { z } from 'zod'\n`])).toEqual([])
  expect(complaintsOf(['src/cli/crawl.ts', `import { SECTIONS } from '../agent/options.ts'\n`])).toEqual([])
})

test('a cycle is seen, types included', () => {
  const [what] = complaintsOf(
    ['src/url/a.ts', `import type { B } from './b.ts'\n`],
    ['src/url/b.ts', `export * from './a.ts'\n`],
  )
  expect(what).toBe('import cycle: src/url/a.ts → src/url/b.ts → src/url/a.ts')
})

test('drawers, foreign rooms and odd file names are refused', () => {
  expect(complaintsOf(['src/url/util.ts', ''])).toEqual(['a drawer, not a room: name the thing it holds'])
  expect(complaintsOf(['src/attic/chest.ts', ''])).toEqual([`room 'attic' is not in src/rooms.ts`])
  expect(complaintsOf(['src/url/hostKey.ts', ''])).toEqual(['file names are kebab-case'])
})

test('time, chance and environment come in from outside', () => {
  expect(complaintsOf(['src/frontier/x.ts', 'const now = Date.now()\nconst a = process.env.X\n'])).toEqual([
    'Date.now comes in from outside, not here',
    'process.env comes in from outside, not here',
  ])
  expect(complaintsOf(['src/base/clock.ts', 'const now = Date.now()\n'])).toEqual([])
})

test('the dashboard loads data of the crawler, and knows the rest by its types', () => {
  expect(complaintsOf(['dashboard/a.tsx', `import { ROUTES } from '../src/control/api.ts'\n`])).toEqual([
    'src/control/api.ts is not for browsers: import its types',
  ])
  expect(
    complaintsOf([
      'dashboard/b.tsx',
      `import type { R } from '../src/control/api.ts'\nimport { PATHS } from '../src/control/paths.ts'\n`,
    ]),
  ).toEqual([])
})
