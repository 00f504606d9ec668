// Counts by name, as a table whose rows are as long as their share: read by anybody, also without seeing the bars.

import type { ComponentChildren } from 'preact'
import { count, share } from '../words/formats.ts'
import type { Tone } from '../words/meanings.ts'
import { Breakable } from './basics.tsx'

export interface Bar {
  readonly name: string
  readonly value: number
  readonly text?: string
  readonly tone?: Tone
  readonly href?: string
}

export function barsOf(counts: Readonly<Record<string, number>>): Bar[] {
  return Object.entries(counts)
    .filter(([, value]) => value > 0)
    .map(([name, value]) => ({ name, value }))
    .sort((a, b) => b.value - a.value)
}

export function Bars({
  bars,
  label,
  what,
  most = 12,
  empty = 'None.',
}: {
  bars: readonly Bar[]
  label: string
  /** What is counted: 'pages'. */
  what: string
  most?: number
  empty?: ComponentChildren
}) {
  if (bars.length === 0) return <p class="soft nothing">{empty}</p>
  const all = bars.reduce((sum, { value }) => sum + value, 0)
  const largest = Math.max(...bars.map(({ value }) => value))
  const listed = bars.slice(0, most)
  const others = bars.slice(most).reduce((sum, { value }) => sum + value, 0)
  return (
    <table class="bars">
      <caption class="hidden">{label}</caption>
      <thead class="hidden">
        <tr>
          <th scope="col">{label}</th>
          <th scope="col">{what}</th>
          <th scope="col">share</th>
        </tr>
      </thead>
      <tbody>
        {listed.map(({ name, value, text, tone, href }) => (
          <tr key={name} class={`tone-${tone ?? 'accent'}`}>
            <th scope="row">
              <span class="bar-name">
                {href === undefined ? (
                  <Breakable text={name} most={120} />
                ) : (
                  <a href={href}>
                    <Breakable text={name} most={120} />
                  </a>
                )}
              </span>
              {text === undefined || text === '' ? null : <small>{text}</small>}
              <i class="bar" style={{ width: `${(100 * value) / largest}%` }} aria-hidden="true" />
            </th>
            <td class="number">{count(value)}</td>
            <td class="number soft">{share(value, all)}</td>
          </tr>
        ))}
        {others === 0 ? null : (
          <tr class="tone-idle">
            <th scope="row" class="soft">
              {count(bars.length - most)} more
            </th>
            <td class="number">{count(others)}</td>
            <td class="number soft">{share(others, all)}</td>
          </tr>
        )}
      </tbody>
    </table>
  )
}

/** Parts of a whole, side by side, with what they are called below. */
export function Stack({ parts, label }: { parts: readonly Bar[]; label: string }) {
  const all = parts.reduce((sum, { value }) => sum + value, 0)
  const present = parts.filter(({ value }) => value > 0)
  if (all === 0) return <p class="soft nothing">None.</p>
  return (
    <div>
      <div class="stack" aria-hidden="true">
        {present.map(({ name, value, tone }) => (
          <i key={name} class={`tone-${tone ?? 'accent'}`} style={{ flexGrow: value }} />
        ))}
      </div>
      <ul class="legend" aria-label={label}>
        {present.map(({ name, value, tone, text }) => (
          <li key={name} class={`tone-${tone ?? 'accent'}`}>
            <i aria-hidden="true" />
            <strong>{count(value)}</strong> {name}
            {text === undefined || text === '' ? null : <span class="soft"> {text}</span>}
          </li>
        ))}
      </ul>
    </div>
  )
}
