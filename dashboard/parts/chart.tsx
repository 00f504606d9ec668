// One curve, or a few, over the time of the crawl. uPlot draws it; colours are those of the sheet, asked for again when the theme changes.

import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useStore } from '../talk/store.ts'
import { theme } from '../theme.ts'
import { duration } from '../words/formats.ts'

export interface Curve {
  readonly name: string
  /** Of the sheet: 'accent', 'bad' … */
  readonly tone: string
  readonly values: readonly number[]
}

const HEIGHT = 132
/** Where lines may stand: at even minutes, hours and days; at even KiB and MiB; at whole numbers. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30]
  .flatMap((step) => [step, step * 60])
  .concat([1, 2, 3, 6, 12].map((hours) => hours * 3_600))
  .concat([1, 2, 5, 10, 20, 50, 100].map((days) => days * 86_400))
  .sort((a, b) => a - b)
const BYTE_STEPS = [0, 1, 2, 3].flatMap((power) =>
  [1, 2, 5, 10, 20, 50, 100, 200, 500].map((step) => step * 1_024 ** power),
)
/** Half a page would be told as one, or none. */
const WHOLE_STEPS = Array.from({ length: 13 }, (_, power) =>
  [1, 2, ...(power > 0 ? [2.5] : []), 5].map((step) => step * 10 ** power),
).flat()
/** What is pointed at in one chart is pointed at in all. */
const together = uPlot.sync('course')

function colourOf(name: string): string {
  const probe = document.createElement('i')
  probe.style.color = `var(--${name})`
  document.body.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

export function Chart({
  title,
  times,
  curves,
  format,
  unit,
}: {
  title: string
  times: readonly number[]
  curves: readonly Curve[]
  format: (value: number) => string
  unit?: 'bytes' | 'whole'
}) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const [pointed, setPointed] = useState<number | null>(null)
  const chosen = useStore(theme)
  const formatter = useRef(format)
  formatter.current = format
  const shape = curves.map(({ name, tone }) => `${name}:${tone}`).join(' ')

  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const draw = (): void => {
      plot.current?.destroy()
      const soft = colourOf('soft')
      const grid = { stroke: colourOf('faint'), width: 1 }
      const ticks = { show: false }
      const axis = { stroke: soft, grid, ticks, font: '11px system-ui, sans-serif' }
      plot.current = new uPlot(
        {
          width: Math.max(120, element.clientWidth),
          height: HEIGHT,
          padding: [8, 26, 0, 0],
          legend: { show: false },
          cursor: {
            sync: { key: together.key },
            points: { size: 6 },
            drag: { x: false, y: false },
            y: false,
          },
          scales: { x: { time: false }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
          axes: [
            {
              ...axis,
              size: 24,
              gap: 4,
              space: 64,
              incrs: TIME_STEPS,
              values: (_, all) => all.map((t) => duration(t)),
            },
            {
              ...axis,
              size: 56,
              gap: 6,
              space: 26,
              ...(unit === undefined ? {} : { incrs: unit === 'bytes' ? BYTE_STEPS : WHOLE_STEPS }),
              values: (_, all) => all.map((value) => formatter.current(value)),
            },
          ],
          series: [
            {},
            ...curves.map(({ name, tone }, at) => ({
              label: name,
              stroke: colourOf(tone),
              width: 1.5,
              points: { show: false },
              ...(at === 0 ? { fill: colourOf(`${tone}-wash`) } : {}),
            })),
          ],
          hooks: { setCursor: [(self) => setPointed(self.cursor.idx ?? null)] },
        },
        [[...times], ...curves.map(({ values }) => [...values])],
        element,
      )
    }
    draw()
    const observer = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(120, element.clientWidth), height: HEIGHT }),
    )
    observer.observe(element)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    return () => {
      scheme.removeEventListener('change', draw)
      observer.disconnect()
      plot.current?.destroy()
      plot.current = null
    }
    // Curves are given anew with every sample: only their shape makes another plot, their values are put into this one.
  }, [shape, chosen])

  useEffect(() => {
    plot.current?.setData([[...times], ...curves.map(({ values }) => [...values])])
  }, [times, curves])

  const at = pointed !== null && pointed < times.length ? pointed : times.length - 1
  const said = curves.map(({ name, values }) => `${name} ${format(values[at] ?? 0)}`).join(', ')
  const most = Math.max(0, ...curves.flatMap(({ values }) => values))
  return (
    <figure class="chart">
      <figcaption>
        <span class="chart-title">{title}</span>
        <span class="chart-values">
          {curves.map(({ name, tone, values }) => (
            <span key={name} class={`tone-${tone}`}>
              <i aria-hidden="true" />
              {curves.length > 1 ? <span class="soft">{name} </span> : null}
              <b>{format(values[at] ?? 0)}</b>
            </span>
          ))}
          {pointed === null ? null : <span class="soft">at {duration(times[at] ?? 0)}</span>}
        </span>
      </figcaption>
      <div class="plot" ref={box} role="img" aria-label={`${title} over time: now ${said}; at most ${format(most)}`} />
    </figure>
  )
}
