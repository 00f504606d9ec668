import { execFileSync } from 'node:child_process'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { shellWord } from '../../src/cli/crawl-directory.ts'

test('a directory in a command that is shown is one word to a shell, and the same', () => {
  const unit = fc.constantFrom(...`ab /'"$\`\\;&|<>(){}*?!~#=-\u00e9\t%`.split(''))
  const names = fc.sample(fc.string({ unit, minLength: 1, maxLength: 12 }), { numRuns: 200, seed: 7 })
  const given = names.map((name) => name.replaceAll('\t', ' '))
  // One shell for all: each name is an argument, printed behind a line end.
  const said = execFileSync('sh', ['-c', `printf '%s\\n' ${names.map(shellWord).join(' ')}`], { encoding: 'utf8' })
  expect(said.split('\n').slice(0, -1)).toEqual(given)
})

test.each(['', '~', '~root', '#x', '-rf', '$HOME', 'a\nb'])('%j too', (name) => {
  const said = execFileSync('sh', ['-c', `printf '<%s>' ${shellWord(name)} end`], { encoding: 'utf8' })
  expect(said).toBe(`<${name.replaceAll('\n', ' ')}><end>`)
})
