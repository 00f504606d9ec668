// What a URL filter must look like, checked before a crawl starts.

import { z } from 'zod'
import { patternComplaint } from '../base/index.ts'
import { canonicalise } from './canonicalise.ts'
import { canonicalHost, type UrlFilter } from './url-filter.ts'

export const hostText = z.string().refine((text) => canonicalHost(text) !== null, { error: 'is not a host name' })
const prefixText = z
  .string()
  .refine((text) => typeof canonicalise(text) === 'string', { error: 'is not a URL; write it from the scheme on' })
const patternText = z.string().superRefine((source, context) => {
  const message = patternComplaint(source)
  if (message !== null) context.addIssue({ code: 'custom', message })
})

export const urlFilterSchema: z.ZodType<UrlFilter, UrlFilter> = z.lazy(() =>
  z.union([
    z.strictObject({ domain: hostText }),
    z.strictObject({ host: hostText }),
    z.strictObject({ prefix: prefixText }),
    z.strictObject({ protocol: z.enum(['http', 'https', 'ftp', 'gopher']) }),
    z.strictObject({ extension: z.string().regex(/^[^./]*$/, 'is an extension without its dot') }),
    z.strictObject({ pattern: patternText }),
    z.strictObject({ all: z.array(urlFilterSchema) }),
    z.strictObject({ any: z.array(urlFilterSchema) }),
    z.strictObject({ not: urlFilterSchema }),
  ]),
)
