// Fields with a name, a hint and what is wrong with them, and forms that say what became of them.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useState } from 'preact/hooks'
import { type ApiError, asApiError, type FieldError } from '../talk/client.ts'
import { Trouble } from './basics.tsx'

interface FieldProps {
  readonly label: string
  readonly hint?: ComponentChildren
  readonly error?: string | undefined
}

interface Control {
  readonly id: string
  readonly 'aria-invalid'?: boolean
  readonly 'aria-describedby'?: string
}

export function Field({
  label,
  hint,
  error,
  children,
}: FieldProps & { children: (control: Control) => ComponentChildren }) {
  const id = useId()
  // Who sent a form with mistakes in it finds himself at the first.
  useEffect(() => {
    const control = document.getElementById(id)
    if (error !== undefined && control?.closest('form')?.querySelector('[aria-invalid]') === control) control?.focus()
  }, [error, id])
  const about = [...(hint === undefined ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])]
  return (
    <div class={`field${error === undefined ? '' : ' wrong'}`}>
      <label for={id}>{label}</label>
      {children({
        id,
        ...(error === undefined ? {} : { 'aria-invalid': true }),
        ...(about.length === 0 ? {} : { 'aria-describedby': about.join(' ') }),
      })}
      {error === undefined ? null : (
        <p class="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {hint === undefined ? null : (
        <p class="field-hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  )
}

export function TextField({
  value,
  onValue,
  placeholder,
  kind = 'text',
  ...field
}: FieldProps & {
  value: string
  onValue: (value: string) => void
  placeholder?: string
  /** Numbers are typed as text: what is no number is named by the server, in its place. */
  kind?: 'text' | 'number' | 'secret'
}) {
  return (
    <Field {...field}>
      {(control) => {
        const given = {
          ...control,
          value,
          placeholder,
          autocomplete: 'off' as const,
          spellcheck: false,
          onInput: (event: { currentTarget: HTMLInputElement }) => onValue(event.currentTarget.value),
        }
        return kind === 'secret' ? (
          <input type="password" {...given} />
        ) : (
          <input type="text" inputMode={kind === 'number' ? 'decimal' : 'text'} {...given} />
        )
      }}
    </Field>
  )
}

export function LinesField({
  value,
  onValue,
  rows = 4,
  placeholder,
  ...field
}: FieldProps & { value: string; onValue: (value: string) => void; rows?: number; placeholder?: string }) {
  return (
    <Field {...field}>
      {(control) => (
        <textarea
          {...control}
          rows={rows}
          value={value}
          placeholder={placeholder}
          spellcheck={false}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    </Field>
  )
}

export function ChoiceField({
  value,
  onValue,
  choices,
  ...field
}: FieldProps & {
  value: string
  onValue: (value: string) => void
  choices: readonly (readonly [string, string])[]
}) {
  return (
    <Field {...field}>
      {(control) => (
        <select {...control} value={value} onChange={(event) => onValue(event.currentTarget.value)}>
          {choices.map(([name, text]) => (
            <option key={name} value={name}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
}

/** The complaint about a field: of itself, or of something in it ('seeds.0' belongs to 'seeds'). */
export function errorAt(fields: readonly FieldError[], where: string): string | undefined {
  const own = fields.filter((field) => field.where === where || field.where.startsWith(`${where}.`))
  if (own.length === 0) return undefined
  return own
    .map((field) =>
      field.where === where ? field.what : `${placeIn(field.where.slice(where.length + 1))}: ${field.what}`,
    )
    .join('; ')
}

/** '0' is the first line of what was typed. */
function placeIn(rest: string): string {
  return /^\d+$/.test(rest) ? `line ${Number(rest) + 1}` : rest
}

export interface Doing {
  readonly isBusy: boolean
  readonly error: ApiError | null
  /** Runs it, one at a time; true when it went well. */
  readonly run: (work: () => Promise<void>) => Promise<boolean>
  readonly forget: () => void
}

export function useDoing(): Doing {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError | null>(null)
  return {
    isBusy,
    error,
    forget: () => setError(null),
    run: async (work) => {
      setBusy(true)
      setError(null)
      try {
        await work()
        return true
      } catch (caught) {
        setError(asApiError(caught))
        return false
      } finally {
        setBusy(false)
      }
    },
  }
}

/** A form that names wrong fields itself shows only the complaints that belong to none of them. */
export function FormTrouble({ error, known }: { error: ApiError | null; known: readonly string[] }) {
  if (error === null) return null
  const isKnown = ({ where }: FieldError): boolean =>
    known.some((name) => where === name || where.startsWith(`${name}.`))
  const fields = error.fields.filter((field) => !isKnown(field))
  if (fields.length === 0 && error.fields.length > 0) return null
  return <Trouble error={Object.assign(Object.create(error) as ApiError, { fields })} />
}
