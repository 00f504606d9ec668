export type * from './content-seen.ts'
