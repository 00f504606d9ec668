import { z } from 'zod'
import { size, texts } from '../base/options.ts'

export const processorOptions = z.strictObject({
  parseBytes: size('16MiB', { text: 'How much of a page is read for links.' }, 1_024),
  dropContaining: texts({ text: 'Pages that contain one of these strings are counted as skipped and not kept.' }),
})

export type ProcessorOptions = z.output<typeof processorOptions>
