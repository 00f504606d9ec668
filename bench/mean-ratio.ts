// The mean of some ratios, and the range in which it lies with 95 %.

/** Of Student, two-sided, 95 %, by how many there were beyond one. */
const STUDENT = [12.71, 4.3, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26]

export interface MeanRatio {
  readonly ratio: number
  readonly from: number
  readonly to: number
}

/** Of two ratios at least. Half is as far from one as twice. */
export function meanRatio(ratios: readonly number[]): MeanRatio {
  const count = ratios.length
  const logs = ratios.map(Math.log)
  const mean = logs.reduce((sum, one) => sum + one, 0) / count
  const deviation = Math.sqrt(logs.reduce((sum, one) => sum + (one - mean) ** 2, 0) / (count - 1))
  const reach = ((STUDENT[count - 2] ?? 2) * deviation) / Math.sqrt(count)
  return { ratio: Math.exp(mean), from: Math.exp(mean - reach), to: Math.exp(mean + reach) }
}

export function sayRatio({ ratio, from, to }: MeanRatio): string {
  return `${ratio.toFixed(3)}, ${from.toFixed(3)} to ${to.toFixed(3)}`
}
