export type * from './fetcher.ts'
