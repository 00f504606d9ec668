/** As people type limits: numbers become numbers, what was left empty is not said. */
export function limitOf(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const value = Number(trimmed.replaceAll(/[, _]/g, ''))
  return Number.isNaN(value) ? trimmed : value
}
