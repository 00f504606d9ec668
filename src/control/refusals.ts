// What the server refuses, and how that is said.

import { Fault } from '../base/index.ts'

/** Names the field: `options.url.exclude.0`. */
export interface FieldProblem {
  readonly where: string
  readonly what: string
}

/** Asked for what cannot be, field by field. */
export class FieldsFault extends Fault {
  readonly fields: readonly FieldProblem[]

  constructor(fields: readonly FieldProblem[]) {
    super('CONFIG_INVALID', fields.map(({ where, what }) => `${where}: ${what}`).join('; '))
    this.fields = fields
  }
}
