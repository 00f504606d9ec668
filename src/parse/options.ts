import { z } from 'zod'
import { count } from '../base/options.ts'

export const parseOptions = z.strictObject({
  linksPerPage: count(
    100_000,
    { text: 'Links kept of one page; more are counted and dropped, so that a hostile page cannot fill the memory.' },
    { min: 1 },
  ),
  titleLength: count(1_000, { text: 'Characters kept of a title.' }),
})
export type ParseOptions = z.output<typeof parseOptions>

export { LINK_KINDS } from './parsed-page.ts'
