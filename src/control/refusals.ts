// What the server refuses, and how that is said: { error: { code, message, fields } }. Faults keep their code; what is wrong with a
// request itself has a code of its own.

import { Fault, type FaultCode } from '../base/index.ts'

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

/** What can be wrong with a request before a crawl hears of it. */
export const REQUEST_REFUSALS = {
  WRONG_HOST: { status: 421, text: 'the Host header names another server than this one' },
  WRONG_ORIGIN: { status: 403, text: 'the request comes from a page of another server' },
  TOKEN_MISSING: { status: 401, text: 'the token is missing: Authorization: Bearer …' },
  TOKEN_WRONG: { status: 401, text: 'the token is not the one of this server; it is made anew at every start' },
  NOT_JSON: { status: 415, text: 'changes are sent as application/json' },
  BODY_UNREADABLE: { status: 400, text: 'the body is no JSON object' },
  BODY_TOO_LARGE: { status: 413, text: 'the body is larger than 1 MiB' },
  HEADERS_TOO_LARGE: { status: 431, text: 'too many headers, or too large ones' },
  REQUEST_UNREADABLE: { status: 400, text: 'the request is not HTTP, or not all of it came in time' },
  FIELDS_INVALID: { status: 400, text: 'what was asked for is not as it must be' },
  NO_SUCH_PATH: { status: 404, text: 'there is nothing at this path' },
  WRONG_METHOD: { status: 405, text: 'this path has other methods' },
  TOO_MANY_READERS: { status: 503, text: 'too many listen already' },
  NO_DASHBOARD: { status: 503, text: 'the dashboard is not built' },
  BROKEN: { status: 500, text: 'a fault of Portolan itself; please report it' },
} as const
export type RequestRefusal = keyof typeof REQUEST_REFUSALS

/** How a fault is told by status; what is not here is our own trouble: 500. */
const STATUS_OF_FAULT: Partial<Readonly<Record<FaultCode, number>>> = {
  CONFIG_INVALID: 400,
  CONTROL_UNKNOWN: 404,
  CONTROL_REFUSED: 409,
  LEDGER_LOCKED: 409,
  CLUSTER_REFUSED: 409,
  CALL_FAILED: 502,
  ENGINE_UNREACHABLE: 503,
  ENGINE_FULL: 503,
  NODE_FENCED: 503,
  CALL_UNANSWERED: 504,
  DISK_FULL: 507,
}

export interface Refusal {
  readonly status: number
  readonly error: { readonly code: string; readonly message: string; readonly fields?: readonly FieldProblem[] }
}

export function refuse(
  code: RequestRefusal,
  more: { message?: string; fields?: readonly FieldProblem[] } = {},
): Refusal {
  const { status, text } = REQUEST_REFUSALS[code]
  const { message = text, fields } = more
  return { status, error: { code, message, ...(fields === undefined ? {} : { fields }) } }
}

/** Whatever was thrown. What is no fault is our mistake, and says nothing of our insides. */
export function refusalOf(cause: unknown): Refusal {
  if (isSaidElsewhere(cause)) {
    const { status, code, message, fields } = cause
    return { status: status === 0 ? 502 : status, error: { code, message, ...(fields.length === 0 ? {} : { fields }) } }
  }
  if (!(cause instanceof Fault)) return refuse('BROKEN')
  const fields = cause instanceof FieldsFault ? { fields: cause.fields } : {}
  return { status: STATUS_OF_FAULT[cause.code] ?? 500, error: { code: cause.code, message: cause.message, ...fields } }
}

interface SaidElsewhere {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly fields: readonly FieldProblem[]
}

/** By another server that this one passed the request on to (a ControlError). */
function isSaidElsewhere(cause: unknown): cause is SaidElsewhere {
  return cause instanceof Error && cause.name === 'ControlError' && 'status' in cause
}
