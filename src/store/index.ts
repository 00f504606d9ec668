export type * from './records.ts'
