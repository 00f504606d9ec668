// Documentation that is derived cannot rot: it is compared with what the code says today.

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { generatedDocs } from './docs.ts'

test.for([...generatedDocs()])('%s says what the code says (npm run docs writes it anew)', ([path, text]) => {
  expect(readFileSync(fileURLToPath(new URL(`../${path}`, import.meta.url)), 'utf8')).toBe(text)
})
