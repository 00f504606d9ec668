export type * from './parsed-page.ts'
