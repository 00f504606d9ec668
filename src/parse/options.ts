import { z } from 'zod'
import { count, yesNo } from '../base/options.ts'

export const parseOptions = z.strictObject({
  linksPerPage: count(
    100_000,
    { text: 'Links kept of one page; more are counted and dropped, so that a hostile page cannot fill the memory.' },
    { min: 1 },
  ),
  titleLength: count(1_000, { text: 'Characters kept of a title.' }),
  simhash: yesNo(true, {
    text: 'Keep a SimHash of the text of every HTML page. Without it, traps that show by their content are not seen.',
  }),
})
export type ParseOptions = z.output<typeof parseOptions>

export { LINK_KINDS } from './parsed-page.ts'
