// Values of options between JSON, which the API speaks, and what one reads and types. The schema of an option says which of them fits.

export interface Schema {
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly items?: Schema
  readonly default?: unknown
  readonly $ref?: string
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
}

export type Editor =
  | { readonly kind: 'choice'; readonly choices: readonly string[] }
  | { readonly kind: 'lines' }
  | { readonly kind: 'text' }
  | { readonly kind: 'json' }

function schemaOf(given: unknown): Schema {
  return typeof given === 'object' && given !== null ? given : {}
}

function partsOf(schema: Schema): readonly Schema[] {
  const parts = schema.anyOf ?? schema.oneOf
  return parts === undefined ? [schema] : parts.flatMap(partsOf)
}

function typesOf(schema: Schema): string[] {
  return partsOf(schema).flatMap(({ type }) => (type === undefined ? [] : typeof type === 'string' ? [type] : type))
}

export function editorOf(schema: unknown, value: unknown): Editor {
  const given = schemaOf(schema)
  const parts = partsOf(given)
  const choices = parts.flatMap((part) => part.enum ?? (part.const === undefined ? [] : [part.const]))
  if (choices.length > 0 && parts.every((part) => part.enum !== undefined || part.const !== undefined))
    return { kind: 'choice', choices: choices.map(String) }
  const types = new Set(typesOf(given))
  if (types.size === 1 && types.has('boolean')) return { kind: 'choice', choices: ['true', 'false'] }
  const isTextList = parts.some(
    ({ type, items }) => type === 'array' && items !== undefined && typesOf(items).every((one) => one === 'string'),
  )
  if (isTextList && (value === null || Array.isArray(value))) return { kind: 'lines' }
  const isDeep = parts.some(({ $ref }) => $ref !== undefined)
  if (isDeep || types.has('object') || types.has('array') || (typeof value === 'object' && value !== null))
    return { kind: 'json' }
  return { kind: 'text' }
}

/** In a table: short. */
export function asText(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (typeof value === 'string') return value === '' ? '(empty)' : value
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.length === 0) return 'none'
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return value.join(', ')
  return JSON.stringify(value)
}

/** As it is edited; what was never said begins as what is usual, or nobody could take a word from it. */
export function asTyped(given: unknown, editor: Editor, schema: unknown): string {
  const value = given ?? schemaOf(schema).default
  if (editor.kind === 'lines') return Array.isArray(value) ? value.join('\n') : ''
  if (editor.kind === 'json') return value === undefined ? '' : JSON.stringify(value, null, 2)
  if (value === null || value === undefined) return editor.kind === 'choice' ? '' : 'none'
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What was typed, as JSON; throws what a person can read. Whether it is allowed the server says. */
export function fromTyped(text: string, editor: Editor, schema: unknown): unknown {
  if (editor.kind === 'lines')
    return text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
  if (editor.kind === 'json') {
    try {
      return JSON.parse(text) as unknown
    } catch (error) {
      throw new Error(`This is not JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
  const trimmed = text.trim()
  const types = new Set(typesOf(schemaOf(schema)))
  if (types.has('boolean') && (trimmed === 'true' || trimmed === 'false')) return trimmed === 'true'
  if (types.has('null') && (trimmed === '' || trimmed === 'none')) return null
  const isNumeric = trimmed !== '' && !Number.isNaN(Number(trimmed))
  if (isNumeric && (types.has('number') || types.has('integer'))) return Number(trimmed)
  return trimmed
}
