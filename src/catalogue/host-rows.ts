import { rowSum } from './database.ts'

/** A row of the table of hosts. */
export interface HostRow {
  readonly id: number
  readonly name: string
  readonly pages: number
  readonly errors: number
  readonly bytes: number
  /** To the first byte, of all pages together. */
  readonly ms: number
  readonly mean: number
  readonly sum: number
}

export function hostSum({ id, name, pages, errors, bytes, ms, mean }: Omit<HostRow, 'sum'>): number {
  return rowSum(id, name, pages, errors, bytes, ms, mean)
}
