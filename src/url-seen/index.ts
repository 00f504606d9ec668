export type * from './url-seen.ts'
