export type * from './frontier.ts'
