// The course of the crawl: four quantities over time, drawn from the samples taken while it ran.

import { formatBytes } from '../../base/index.ts'
import { formatCount, formatRate, formatShort, formatSpan } from '../figures.ts'
import type { TimelineSample } from '../timeline.ts'
import { areaChart, type Point } from './charts.ts'
import { html, type Markup } from './markup.ts'
import { byteTicks, ticks, timeTicks } from './scale.ts'

/** As many as a chart of half a screen can show. */
const POINTS_MAX = 90

export function course(timeline: readonly TimelineSample[]): Markup | null {
  const seconds = timeline.at(-1)?.t ?? 0
  if (timeline.length < 3 || seconds <= 0) return null
  const pages = rates(timeline, (sample) => sample.pages)
  const bytes = rates(timeline, (sample) => sample.bytes)
  const waiting = levels(timeline, (sample) => sample.waiting)
  const memory = levels(timeline, (sample) => sample.rssBytes)
  const last = timeline[timeline.length - 1]
  const shared = { xMax: seconds, xTicks: timeTicks(seconds), formatX: seconds < 10 ? formatSeconds : formatMoment }
  const meanPages = (last?.pages ?? 0) / seconds
  const meanBytes = (last?.bytes ?? 0) / seconds
  return html`<section id="course">
    <h2>Course</h2>
    <p>How the crawl went, over ${formatSpan(seconds * 1_000)} of crawling. Time between runs is left out.</p>
    <div class="grid">
      ${areaChart({
        ...shared,
        name: 'Pages per second',
        says: `${formatRate(meanPages)} on average, ${formatRate(highest(pages))} at best`,
        points: toEdges(pages, seconds),
        yTicks: ticks(highest(pages)),
        formatY: formatShort,
      })}
      ${areaChart({
        ...shared,
        name: 'Bytes per second',
        says: `${formatBytes(meanBytes)}/s on average, ${formatBytes(highest(bytes))}/s at best`,
        points: toEdges(bytes, seconds),
        yTicks: byteTicks(highest(bytes)),
        formatY: formatBytes,
      })}
      ${areaChart({
        ...shared,
        name: 'URLs waiting',
        says: `${formatCount(highest(waiting))} at most, ${formatCount(last?.waiting ?? 0)} at the end`,
        points: waiting,
        yTicks: ticks(highest(waiting)),
        formatY: formatShort,
      })}
      ${areaChart({
        ...shared,
        name: 'Memory',
        says: `${formatBytes(highest(memory))} at most, resident`,
        points: memory,
        yTicks: byteTicks(highest(memory)),
        formatY: formatBytes,
      })}
    </div>
  </section>`
}

function formatMoment(t: number): string {
  return t === 0 ? '0' : formatSpan(t * 1_000)
}

/** One unit along a short axis: 0.5 s, 1 s, 1.5 s. */
function formatSeconds(t: number): string {
  return t === 0 ? '0' : `${Number(t.toPrecision(2))} s`
}

type Figure = (sample: TimelineSample) => number

/** Change per second of a cumulative figure, over equal spans of time. */
export function rates(timeline: readonly TimelineSample[], figure: Figure): Point[] {
  const seconds = timeline.at(-1)?.t ?? 0
  const spans = Math.min(POINTS_MAX, Math.max(1, timeline.length - 1))
  const width = seconds / spans
  // A crash may have taken back what a sample had counted: a rate is never negative.
  return Array.from({ length: spans }, (_, i) => ({
    x: (i + 0.5) * width,
    y: Math.max(0, sumAt(timeline, figure, (i + 1) * width) - sumAt(timeline, figure, i * width)) / width,
  }))
}

/** The rate of a span holds to its ends: few spans must not look like a late start and an early end. */
function toEdges(points: readonly Point[], seconds: number): Point[] {
  const first = points[0]
  const last = points.at(-1)
  if (first === undefined || last === undefined) return []
  return [{ x: 0, y: first.y }, ...points, { x: seconds, y: last.y }]
}

/** A figure of the moment, at equal distances. */
export function levels(timeline: readonly TimelineSample[], figure: Figure): Point[] {
  const seconds = timeline.at(-1)?.t ?? 0
  const points = Math.min(POINTS_MAX, timeline.length)
  return Array.from({ length: points }, (_, i) => {
    const x = (seconds * i) / (points - 1)
    return { x, y: valueAt(timeline, figure, x) }
  })
}

/** A cumulative figure starts from nothing, whenever its first sample was taken. */
function sumAt(timeline: readonly TimelineSample[], figure: Figure, t: number): number {
  const first = timeline[0]
  if (first === undefined || t >= first.t) return valueAt(timeline, figure, t)
  return (figure(first) * t) / first.t
}

/** Between samples on a straight line; beyond the ends what the nearest says. */
function valueAt(timeline: readonly TimelineSample[], figure: Figure, t: number): number {
  const next = timeline.findIndex((sample) => sample.t >= t)
  const after = timeline.at(next)
  const before = next > 0 ? timeline[next - 1] : after
  if (after === undefined || before === undefined) return 0
  if (after === before) return figure(after)
  return figure(before) + ((t - before.t) / (after.t - before.t)) * (figure(after) - figure(before))
}

function highest(points: readonly Point[]): number {
  return points.reduce((max, point) => Math.max(max, point.y), 0)
}
