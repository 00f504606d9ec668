// Filters of a list, kept in the address. What is typed is asked for when the typing pauses.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { go, hrefOf, type Route } from '../route.ts'

const PAUSE_MS = 250

/** The same view with other filters; an empty one is left out. */
export function filtered(route: Route, change: Readonly<Record<string, string>>): string {
  return hrefOf(route.crawl, route.view, route.thing, { ...route.query, ...change })
}

export function Filters({ children }: { children: ComponentChildren }) {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  )
}

export function FilterText({
  route,
  name,
  label,
  placeholder,
  className = '',
}: {
  route: Route
  name: string
  label: string
  placeholder?: string
  className?: string
}) {
  const id = useId()
  const given = route.query[name] ?? ''
  const [text, setText] = useState(given)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const latest = useRef(route)
  latest.current = route
  useEffect(() => setText(given), [given])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <div class={`filter ${className}`}>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        value={text}
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => {
          const { value } = event.currentTarget
          setText(value)
          clearTimeout(timer.current)
          timer.current = setTimeout(() => go(filtered(latest.current, { [name]: value.trim() }), 'replace'), PAUSE_MS)
        }}
      />
    </div>
  )
}

export function FilterChoice({
  route,
  name,
  label,
  choices,
}: {
  route: Route
  name: string
  label: string
  choices: readonly (readonly [string, string])[]
}) {
  const id = useId()
  const given = route.query[name] ?? ''
  const all = choices.some(([value]) => value === given) ? choices : [...choices, [given, given] as const]
  return (
    <div class="filter">
      <label for={id}>{label}</label>
      <select
        id={id}
        value={given}
        onChange={(event) => go(filtered(route, { [name]: event.currentTarget.value }), 'replace')}
      >
        {all.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </div>
  )
}
