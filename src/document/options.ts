import { z } from 'zod'
import { size } from '../base/options.ts'

export const documentOptions = z.strictObject({
  memoryMax: size('64KiB', { text: 'A body up to this size is kept in memory while it is looked at.' }),
  memoryShared: size('8MiB', {
    text: 'Larger bodies are too, while all of them together take no more than this in an agent; the others go to temporary files.',
  }),
})
export type DocumentOptions = z.infer<typeof documentOptions>
