// A list, and beside it what was chosen from it. On narrow screens one of the two.

import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export function Split({
  detail,
  detailName,
  backHref,
  children,
}: {
  /** Null: nothing is chosen. */
  detail: ComponentChildren | null
  detailName: string
  backHref: string
  children: ComponentChildren
}) {
  const aside = useRef<HTMLElement>(null)
  const isOpen = detail !== null
  useEffect(() => {
    if (isOpen) aside.current?.focus({ preventScroll: true })
  }, [isOpen, detailName])
  return (
    <div class={`split${isOpen ? ' open' : ''}`}>
      <div class="split-list">{children}</div>
      {isOpen ? (
        <aside
          class="detail"
          ref={aside}
          tabIndex={-1}
          aria-label={detailName}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) location.hash = backHref
          }}
        >
          <a class="detail-close button quiet small" href={backHref}>
            ✕ Close
          </a>
          {detail}
        </aside>
      ) : null}
    </div>
  )
}
