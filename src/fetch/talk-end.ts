import type { FailureCode, SkipReason } from '../base/index.ts'

/** Why a talk came to its end without a document. Thrown inside a protocol module and an outcome at its door. */
export class TalkEnd extends Error {
  readonly code: FailureCode | SkipReason
  readonly detail: string

  constructor(code: FailureCode | SkipReason, detail: string) {
    super(detail)
    this.code = code
    this.detail = detail
  }
}
