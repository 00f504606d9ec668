import { z } from 'zod'
import { size } from '../base/options.ts'

export const documentOptions = z.strictObject({
  memoryMax: size('64KiB', { text: 'A body larger than this goes to a temporary file.' }),
})
export type DocumentOptions = z.infer<typeof documentOptions>
