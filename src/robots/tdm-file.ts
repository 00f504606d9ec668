// /.well-known/tdmrep.json (TDM Reservation Protocol, W3C Community Group, 2024): a JSON array of rules, the first whose
// location matches counts. Takes any bytes and never throws: what cannot be read says nothing.

import { normaliseRulePath } from './path-pattern.ts'
import type { TdmRule } from './site-wishes.ts'

export const TDM_FILE_PATH = '/.well-known/tdmrep.json'

/** Rules beyond this are not read: each is compared with every URL of the site. */
export const TDM_RULES_MAX = 1_000
/** A longer location or policy is not read. */
const TEXT_LENGTH_MAX = 2_048

export function parseTdmFile(bytes: Uint8Array): readonly TdmRule[] {
  let content: unknown
  try {
    content = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return []
  }
  // The brackets are mandatory, and forgotten by those who have one rule.
  const list: readonly unknown[] = Array.isArray(content) ? content : [content]
  const rules: TdmRule[] = []
  for (const one of list) {
    if (rules.length >= TDM_RULES_MAX) break
    const rule = ruleOf(one)
    if (rule !== null) rules.push(rule)
  }
  return rules
}

function ruleOf(one: unknown): TdmRule | null {
  if (typeof one !== 'object' || one === null) return null
  const location = ownText(one, 'location')
  const reservation = tdmReservation(ownText(one, 'tdm-reservation'))
  if (location === null || reservation === null) return null
  const path = location.startsWith('/') || location.startsWith('*') ? location : `/${location}`
  return {
    path: normaliseRulePath(Buffer.from(path, 'utf8').toString('latin1')),
    isReserved: reservation,
    policy: reservation ? ownText(one, 'tdm-policy') : null,
  }
}

/** 1 reserves, 0 does not, anything else is an error and says nothing. */
export function tdmReservation(text: string | null): boolean | null {
  const word = text?.trim()
  return word === '1' ? true : word === '0' ? false : null
}

/** Own properties only: a file must not speak through the prototype of all objects. */
function ownText(one: object, name: string): string | null {
  if (!Object.hasOwn(one, name)) return null
  const value: unknown = (one as Record<string, unknown>)[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value.length <= TEXT_LENGTH_MAX ? value : null
}
