// Numbers as people read them: 1,204 · 28 min 40 s · 12 March 2026, 14:02 UTC. Sizes come from base.
// Nothing here depends on the locale of the machine: the same crawl gives the same report anywhere.

/** 1204567 is '1,204,567'; fractions are rounded. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

/** For axes and narrow places: 1204567 is '1.2 M'. */
export function formatShort(value: number): string {
  const size = Math.abs(value)
  if (size >= 999.5e6) return `${trim(value / 1e9)} G`
  if (size >= 999.5e3) return `${trim(value / 1e6)} M`
  if (size >= 999.5) return `${trim(value / 1e3)} k`
  return size >= 99.5 || Number.isInteger(value) ? formatCount(value) : trim(value)
}

/** A rate keeps one digit where it matters: 0.42, 4.2, 42. */
export function formatRate(value: number): string {
  return value >= 100 ? formatCount(value) : trim(value)
}

function trim(value: number): string {
  return String(Number(value.toPrecision(value >= 100 ? 3 : 2)))
}

/** A part of a whole. What is there never shows as 0 %, what is missing never as 100 %. */
export function formatShare(part: number, whole: number): string {
  if (whole <= 0) return '–'
  const percent = (100 * part) / whole
  if (part > 0 && percent < 0.1) return '< 0.1 %'
  if (part < whole && percent > 99.9) return '> 99.9 %'
  return `${percent < 10 && part > 0 ? percent.toFixed(1) : Math.round(percent)} %`
}

/** Two units at most: '340 ms', '4.2 s', '28 min 40 s', '3 h 5 min', '2 d 4 h'. */
export function formatSpan(ms: number): string {
  if (ms < 999.5) return `${ms > 0 && ms < 10 ? Number(ms.toPrecision(2)) : Math.round(ms)} ms`
  if (ms < 59_950) return `${Number((ms / 1_000).toPrecision(ms < 10_000 ? 2 : 3))} s`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 3_600) return pair(Math.floor(seconds / 60), 'min', seconds % 60, 's')
  const minutes = Math.round(seconds / 60)
  if (minutes < 1_440) return pair(Math.floor(minutes / 60), 'h', minutes % 60, 'min')
  const hours = Math.round(minutes / 60)
  return pair(Math.floor(hours / 24), 'd', hours % 24, 'h')
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ')

/** '12 March 2026, 14:02 UTC'; null when the text is no date. */
export function formatDate(iso: string): string | null {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return null
  const clock = date.toISOString().slice(11, 16)
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ''} ${date.getUTCFullYear()}, ${clock} UTC`
}

/** '1 page', '1,204 pages'. */
export function formatNumberOf(value: number, one: string, many = `${one}s`): string {
  return `${formatCount(value)} ${value === 1 ? one : many}`
}
