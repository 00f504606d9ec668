// The small things that every view is made of.

import type { ComponentChildren } from 'preact'
import type { CrawlState } from '../../src/control/paths.ts'
import type { ApiError } from '../talk/client.ts'
import { shown, webHref } from '../words/crawled-text.ts'
import { STATES, type Tone, toneOfStatus } from '../words/meanings.ts'

/** Crawled text: isolated, so that its direction does not spill over. */
export function Shown({ text, most }: { text: string; most?: number }) {
  return <bdi>{shown(text, most)}</bdi>
}

/** A name or URL that may go on in the next line, behind a sign and not in the middle of a word. */
export function Breakable({ text, most }: { text: string; most?: number }) {
  return (
    <bdi>
      {shown(text, most)
        .split(/(?<=[_/?&]+)(?![_/?&])/)
        .flatMap((part, at) => (at === 0 ? [part] : [<wbr key={at} />, part]))}
    </bdi>
  )
}

/** A link out, for URLs of the web only; others are text. */
export function UrlLink({ url }: { url: string }) {
  const href = webHref(url)
  if (href === null) return <Shown text={url} most={2_000} />
  return (
    <a class="url" href={href} rel="noreferrer noopener" target="_blank">
      <Breakable text={url} most={2_000} />
    </a>
  )
}

export function Pill({ tone, children, title }: { tone: Tone; children: ComponentChildren; title?: string }) {
  return (
    <span class={`pill tone-${tone}`} title={title}>
      {children}
    </span>
  )
}

export function StatePill({ state }: { state: CrawlState }) {
  const { tone, text } = STATES[state]
  return (
    <Pill tone={tone} title={text}>
      <i class={`dot${state === 'running' ? ' beats' : ''}`} aria-hidden="true" />
      {state}
    </Pill>
  )
}

export function Status({ status }: { status: number }) {
  return <Pill tone={toneOfStatus(status)}>{status === 0 ? '–' : status}</Pill>
}

export function Card({
  title,
  note,
  aside,
  className = '',
  children,
}: {
  title: string
  note?: ComponentChildren
  aside?: ComponentChildren
  className?: string
  children: ComponentChildren
}) {
  return (
    <section class={`card ${className}`}>
      <header class="card-head">
        <h2>{title}</h2>
        {note === undefined ? null : <p class="soft">{note}</p>}
        {aside === undefined ? null : <div class="card-aside">{aside}</div>}
      </header>
      {children}
    </section>
  )
}

export function ViewHead({
  title,
  note,
  children,
}: {
  title: string
  note?: ComponentChildren
  children?: ComponentChildren
}) {
  return (
    <header class="view-head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {note === undefined ? null : <p class="soft">{note}</p>}
      </div>
      {children === undefined ? null : <div class="actions">{children}</div>}
    </header>
  )
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <svg viewBox="0 0 24 24" aria-hidden="true">
        <path d="M12 1l2.6 8.4L23 12l-8.4 2.6L12 23l-2.6-8.4L1 12l8.4-2.6z" />
      </svg>
      <p>
        <strong>{title}</strong>
      </p>
      {children === undefined ? null : <p class="soft">{children}</p>}
    </div>
  )
}

export function Loading({ what }: { what: string }) {
  return (
    <div class="loading" role="status">
      <span class="hidden">{what}</span>
      <i />
      <i />
      <i />
    </div>
  )
}

export function Trouble({ error, again }: { error: ApiError; again?: () => void }) {
  return (
    <div class="trouble" role="alert">
      <p>
        <strong>{shown(error.message, 1_000)}</strong>
      </p>
      {error.fields.length === 0 ? null : (
        <ul>
          {error.fields.map(({ where, what }) => (
            <li key={where}>
              <code>{where}</code> {shown(what, 1_000)}
            </li>
          ))}
        </ul>
      )}
      {again === undefined ? null : (
        <button type="button" class="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  )
}

/** What an answer stands for until it is there, or in its place. */
export function Awaited<T>({
  answer,
  what,
  children,
}: {
  answer: { data: T | null; error: ApiError | null; again: () => void }
  what: string
  children: (data: T) => ComponentChildren
}) {
  const { data, error, again } = answer
  return (
    <>
      {error === null ? null : <Trouble error={error} again={again} />}
      {data !== null ? children(data) : error === null ? <Loading what={`Loading ${what}`} /> : null}
    </>
  )
}

/** Names and values. */
export function Facts({ rows }: { rows: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  )
}
