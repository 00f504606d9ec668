// Durations and sizes as people write them: '30s', '64MiB'. A bare number is refused, because
// '30' means seconds to one reader and milliseconds to the next; only 0 needs no unit.

const DURATION_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const SIZE_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  kB: 1e3,
  MB: 1e6,
  GB: 1e9,
  TB: 1e12,
  KiB: 2 ** 10,
  MiB: 2 ** 20,
  GiB: 2 ** 30,
  TiB: 2 ** 40,
}

function parseUnits(text: string, units: Readonly<Record<string, number>>): number | null {
  const trimmed = text.trim()
  if (/^0+(\.0+)?$/.test(trimmed)) return 0
  let total = 0
  let position = 0
  const part = /(\d+(?:\.\d+)?)\s*([A-Za-z]+)\s*/y
  while (position < trimmed.length) {
    part.lastIndex = position
    const match = part.exec(trimmed)
    const factor = match === null ? undefined : units[match[2] as string]
    if (match === null || factor === undefined) return null
    total += Number(match[1]) * factor
    position = part.lastIndex
  }
  return position === 0 ? null : total
}

/** Milliseconds of '250ms', '1s', '1h30m'; null when it is none. */
export function parseDuration(text: string): number | null {
  return parseUnits(text, DURATION_MS)
}

/** Bytes of '512B', '64KiB', '1.5GiB', '10MB'; null when it is none. */
export function parseSize(text: string): number | null {
  const bytes = parseUnits(text, SIZE_BYTES)
  return bytes === null ? null : Math.round(bytes)
}

/** The shortest exact form: 90000 is '1m30s'. `parseDuration` reads it back. */
export function formatDuration(ms: number): string {
  if (ms < 1_000 || !Number.isInteger(ms)) return `${Number(ms.toFixed(3))}ms`
  let rest = ms
  let text = ''
  for (const [unit, factor] of Object.entries(DURATION_MS).reverse()) {
    const count = Math.floor(rest / factor)
    if (count > 0) text += `${count}${unit}`
    rest -= count * factor
  }
  return text
}

/** Three significant digits for people: 1536 is '1.5 KiB'. */
export function formatBytes(bytes: number): string {
  const names = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']
  let value = bytes
  let index = 0
  while (value >= 1024 && index < names.length - 1) {
    value /= 1024
    index++
  }
  return `${index === 0 || value >= 100 ? Math.round(value) : Number(value.toPrecision(3))} ${names[index]}`
}
