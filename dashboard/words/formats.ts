// Numbers, sizes and times as people read them. One language, the product's; times in the reader's own zone.

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

export function count(value: number): string {
  return whole.format(value)
}

/** 1 page, 2,000 pages. `plural` ends in an s, as all our nouns do. */
export function things(value: number, plural: string): string {
  return `${count(value)} ${value === 1 ? plural.slice(0, -1) : plural}`
}

export function compact(value: number): string {
  return value < 10_000 ? whole.format(value) : short.format(value)
}

/** Three digits that matter; what is whole needs none behind the point. */
export function rate(value: number): string {
  if (Number.isInteger(value)) return whole.format(value)
  return value >= 100 ? whole.format(value) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const

export function bytes(value: number): string {
  let at = 0
  let rest = value
  while (rest >= 1_000 && at < UNITS.length - 1) {
    rest /= 1_024
    at++
  }
  return `${at === 0 || rest >= 100 ? whole.format(rest) : rest.toFixed(1)} ${UNITS[at] ?? ''}`
}

export function share(part: number, all: number): string {
  if (all === 0) return '0 %'
  const percent = (100 * part) / all
  return `${percent >= 10 || percent === 0 ? percent.toFixed(0) : percent < 0.1 ? '< 0.1' : percent.toFixed(1)} %`
}

/** 3 d 4 h, 2 h 5 m, 4 m 10 s, 12 s, 250 ms */
export function duration(seconds: number): string {
  if (seconds < 1) return seconds === 0 ? '0 s' : `${Math.round(seconds * 1_000)} ms`
  const rounded = Math.round(seconds)
  if (rounded < 60) return `${seconds < 10 && rounded !== seconds ? seconds.toFixed(1) : rounded} s`
  const steps = [
    [86_400, 'd', 3_600, 'h'],
    [3_600, 'h', 60, 'm'],
    [60, 'm', 1, 's'],
  ] as const
  for (const [large, name, small, smallName] of steps) {
    if (rounded < large) continue
    const rest = Math.floor((rounded % large) / small)
    return `${Math.floor(rounded / large)} ${name}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
  }
  return ''
}

const two = (value: number): string => String(value).padStart(2, '0')

/** 2026-11-16 17:52:09, in the reader's zone; what is no moment is shown as it is. */
export function moment(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${clock(iso)}`
}

export function clock(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** In 12 s, 4 m ago. */
export function fromNow(iso: string, nowMs: number): string {
  const seconds = (new Date(iso).getTime() - nowMs) / 1_000
  if (Number.isNaN(seconds)) return ''
  if (Math.abs(seconds) < 1) return 'now'
  return seconds > 0 ? `in ${duration(Math.round(seconds))}` : `${duration(Math.round(-seconds))} ago`
}
