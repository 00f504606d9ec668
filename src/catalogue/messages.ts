// What is said between the thread of catalogues and those who ask them.

import { Fault, type FaultCode } from '../base/index.ts'
import type { BrokenQuery, FailuresQuery, HostsQuery, PagesQuery } from './answers.ts'

export type Question =
  | { readonly ask: 'advance'; readonly ms: number }
  | { readonly ask: 'pages'; readonly query: PagesQuery }
  | { readonly ask: 'failures'; readonly query: FailuresQuery }
  | { readonly ask: 'broken'; readonly query: BrokenQuery }
  | { readonly ask: 'hosts'; readonly query: HostsQuery }
  | { readonly ask: 'host'; readonly host: string }
  | { readonly ask: 'statistics' }
  | { readonly ask: 'close' }

/** Of the catalogue of a directory, which is opened by the first question. */
export type ToCatalogue = Question & { readonly number: number; readonly dir: string }

export interface FaultText {
  readonly code: FaultCode
  readonly message: string
}

export type FromCatalogue = { readonly number: number; readonly readShare: number } & (
  | { readonly value: unknown }
  | { readonly fault: FaultText }
)

/** Errors lose what they are on their way between threads. */
export function faultText(cause: unknown): FaultText {
  if (cause instanceof Fault) return { code: cause.code, message: cause.message }
  return {
    code: 'ASSERTION',
    message: cause instanceof Error ? `catalogue: ${cause.message}` : 'catalogue: unknown error',
  }
}
