// Faults across threads: what a person needs of them survives the crossing.

import { Fault } from '../base/index.ts'
import type { PlainFault } from './agent-messages.ts'

export function plainFault(fault: unknown): PlainFault {
  if (fault instanceof Fault) return { code: fault.code, message: fault.message, stack: fault.stack ?? null }
  if (fault instanceof Error) return { code: null, message: fault.message, stack: fault.stack ?? null }
  return { code: null, message: String(fault), stack: null }
}

export function faultOf({ code, message, stack }: PlainFault): Error {
  const fault = code === null ? new Error(message) : new Fault(code, message)
  if (stack !== null) fault.stack = stack
  return fault
}
