// A table of millions of rows of which some forty exist. Rows have one height; what is above and below is empty room. Browsers draw no
// element higher than some 30 million pixels, so beyond ROOM_MAX the room is a scale of the list rather than the list itself.

import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { asApiError } from '../talk/client.ts'
import { share, things } from '../words/formats.ts'
import { Empty, Trouble } from './basics.tsx'
import { EndlessList, type Piece } from './endless-list.ts'

export interface Column<T> {
  readonly name: string
  readonly label: string
  /** 'number', 'wide' (gone on narrow screens) and widths. */
  readonly className?: string
  /** Value of `sort` this column stands for. */
  readonly sort?: string
  readonly cell: (item: T) => ComponentChildren
}

const OVERSCAN = 8
/** While what is listed is being read, or nothing is there yet. */
const AGAIN_MS = 1_000
const ROOM_MAX = 8_000_000
/** As in the sheet. */
const NARROW = '(max-width: 820px)'

function useIsNarrow(): boolean {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches)
  useEffect(() => {
    const query = matchMedia(NARROW)
    const look = (): void => setNarrow(query.matches)
    look()
    query.addEventListener('change', look)
    return () => query.removeEventListener('change', look)
  }, [])
  return isNarrow
}

export function EndlessTable<T>({
  label,
  question,
  load,
  columns,
  rowHeight: usualHeight,
  narrowRowHeight = usualHeight,
  keyOf,
  isChosen,
  sort,
  onSort,
  what,
  isGrowing,
  empty,
}: {
  label: string
  /** Another question, another list. */
  question: string
  load: (after: string | undefined, signal: AbortSignal) => Promise<Piece<T>>
  columns: readonly Column<T>[]
  rowHeight: number
  /** Where the screen is narrow, and long text has two lines. */
  narrowRowHeight?: number
  keyOf: (item: T) => string
  isChosen?: (item: T) => boolean
  sort?: string
  onSort?: (sort: string) => void
  /** What is listed, in the plural. */
  what: string
  /** The crawl runs: what is not there yet may come. */
  isGrowing: boolean
  empty: ComponentChildren
}) {
  const [, redraw] = useState(0)
  const rowHeight = useIsNarrow() ? narrowRowHeight : usualHeight
  const [eye, setEye] = useState({ top: 0, height: 600 })
  const box = useRef<HTMLDivElement>(null)
  const loader = useRef(load)
  loader.current = load
  const list = useMemo(
    () =>
      new EndlessList<T>(
        (after, signal) => loader.current(after, signal),
        () => redraw((last) => last + 1),
      ),
    [question],
  )
  useEffect(() => {
    box.current?.scrollTo(0, 0)
    return () => list.close()
  }, [list])

  const isEmpty = list.isWhole && list.length === 0
  const isShown = !isEmpty && list.error === null
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const measure = (): void => setEye({ top: element.scrollTop, height: element.clientHeight })
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    measure()
    return () => observer.disconnect()
  }, [isShown])

  const rows = list.length + (list.isWhole ? 0 : 1)
  const whole = rows * rowHeight
  const room = Math.min(whole, ROOM_MAX)
  const scale = room > eye.height ? (whole - eye.height) / (room - eye.height) : 1
  const offset = Math.max(0, Math.min(eye.top, room - eye.height)) * scale
  const first = Math.max(0, Math.floor(offset / rowHeight) - OVERSCAN)
  const last = Math.min(rows, Math.ceil((offset + eye.height) / rowHeight) + OVERSCAN)
  const above = Math.max(0, first * rowHeight - offset + Math.min(eye.top, Math.max(0, room - eye.height)))
  const below = Math.max(0, room - above - (last - first) * rowHeight)

  useEffect(() => list.look(first, last))

  const { readShare } = list
  // Nothing is whole before it is.
  const read = share(Math.min(readShare, 0.99), 1)
  // Beside a crawl that runs the catalogue is always a little behind: what is shown of it stays until somebody refreshes it.
  const mayComplete = isEmpty ? isGrowing || readShare < 1 : !isGrowing && readShare < 1 && eye.top === 0
  useEffect(() => {
    if (!mayComplete) return
    const timer = setInterval(() => document.hidden || list.askAgain(), AGAIN_MS)
    return () => clearInterval(timer)
  }, [list, mayComplete])

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const row = (event.target as HTMLElement).closest('tr[data-row]')
    const element = box.current
    if (step === 0 || row === null || element === null) return
    const next = Number(row.getAttribute('data-row')) + step
    const target = element.querySelector<HTMLElement>(`tr[data-row="${next}"] a, tr[data-row="${next}"] button`)
    if (target === null) return
    event.preventDefault()
    target.focus({ preventScroll: true })
    target.closest('tr')?.scrollIntoView({ block: 'nearest' })
  }

  if (list.error !== null)
    return (
      <Trouble
        error={asApiError(list.error)}
        again={() => {
          list.again()
          list.look(first, last)
        }}
      />
    )
  if (isEmpty && readShare < 1)
    return (
      <Empty title={`Reading … ${read}`}>
        What was crawled is being read, so that it can be found. {`The ${what} come by themselves.`}
      </Empty>
    )
  if (isEmpty) return <Empty title={`No ${what}`}>{empty}</Empty>
  return (
    <div class="endless">
      <div
        class="endless-box"
        ref={box}
        role="region"
        aria-label={label}
        tabIndex={0}
        onKeyDown={onKeyDown}
        onScroll={(event) => setEye({ top: event.currentTarget.scrollTop, height: event.currentTarget.clientHeight })}
      >
        <table aria-rowcount={list.total ?? -1}>
          <caption class="hidden">{label}</caption>
          <thead>
            <tr>
              {columns.map(({ name, label: text, className = '', sort: by }) => {
                const isSorted = by !== undefined && by === sort
                return (
                  <th
                    key={name}
                    scope="col"
                    class={className}
                    {...(isSorted ? { 'aria-sort': by === 'host' ? 'ascending' : 'descending' } : {})}
                  >
                    {by === undefined || onSort === undefined ? (
                      text
                    ) : (
                      <button type="button" class="sorter" onClick={() => onSort(by)}>
                        {text}
                        <span aria-hidden="true">{isSorted ? (by === 'host' ? ' ↑' : ' ↓') : ''}</span>
                      </button>
                    )}
                  </th>
                )
              })}
            </tr>
          </thead>
          <tbody>
            {above === 0 ? null : (
              <tr class="room" aria-hidden="true">
                <td style={{ height: `${above}px` }} />
              </tr>
            )}
            {Array.from({ length: Math.max(0, last - first) }, (_, at) => {
              const index = first + at
              const item = list.row(index)
              if (item === null)
                return (
                  <tr key={`row-${index}`} class="unknown" style={{ height: `${rowHeight}px` }}>
                    <td>
                      <i class="shade" />
                      <span class="hidden">Loading</span>
                    </td>
                  </tr>
                )
              return (
                <tr
                  key={keyOf(item)}
                  data-row={index}
                  aria-rowindex={index + 2}
                  class={isChosen?.(item) === true ? 'chosen' : ''}
                  style={{ height: `${rowHeight}px` }}
                >
                  {columns.map(({ name, className = '', cell }) => (
                    <td key={name} class={className}>
                      {cell(item)}
                    </td>
                  ))}
                </tr>
              )
            })}
            {below === 0 ? null : (
              <tr class="room" aria-hidden="true">
                <td style={{ height: `${below}px` }} />
              </tr>
            )}
          </tbody>
        </table>
      </div>
      <p class="endless-foot soft" role="status">
        {list.isLoading && list.length === 0
          ? 'loading …'
          : `${list.total === null ? `${things(list.length, what)}, more follow` : things(list.total, what)}${readShare < 1 ? ` in the ${read} that is read so far` : ''}${list.isLoading ? ' · loading …' : ''}`}
      </p>
    </div>
  )
}
