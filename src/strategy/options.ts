import { z } from 'zod'
import { choice, pattern, shaped } from '../base/options.ts'
import { BANDS } from '../frontier/options.ts'

export const strategyOptions = z.strictObject({
  order: choice(['breadth-first'], 'breadth-first', { text: 'In which order URLs are visited.' }),
  priorities: shaped(
    z
      .array(
        z.strictObject({
          match: pattern,
          band: z
            .int()
            .min(0)
            .max(BANDS - 1),
        }),
      )
      .default([]),
    {
      text: `Rules that put URLs before or after others: { "match": REGEXP, "band": 0 to ${BANDS - 1} }; the first that matches counts. Seeds wait in band 1, other links in band 4.`,
    },
    'none',
  ),
})

export type StrategyOptions = z.output<typeof strategyOptions>
