// Round numbers for axes.

const TIME_STEPS_S = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
  1_209_600, 2_592_000,
]

/** From 0 up to the first round number not below `max`, in at most `stepsMax` equal steps of 1, 2 or 5 × 10ⁿ. */
export function ticks(max: number, stepsMax = 4): number[] {
  if (!(max > 0)) return [0, 1]
  return stepped(max, decimalStep(max / stepsMax))
}

/** The same in steps of 1, 2, 4 … 512 bytes, KiB, MiB …, whose labels are short. */
export function byteTicks(max: number, stepsMax = 4): number[] {
  if (!(max > 0)) return [0, 1]
  return stepped(max, 2 ** Math.max(0, Math.ceil(Math.log2(max / stepsMax))))
}

/** Moments on an axis of `seconds` length, not beyond its end: whole seconds, minutes, hours or days, or parts of a second. */
export function timeTicks(seconds: number, stepsMax = 5): number[] {
  const wanted = seconds / stepsMax
  const step =
    wanted <= 0.5
      ? decimalStep(wanted)
      : (TIME_STEPS_S.find((step) => step >= wanted) ?? 86_400 * decimalStep(wanted / 86_400))
  const moments = stepped(seconds, step)
  return moments.filter((t) => t <= seconds)
}

function stepped(max: number, step: number): number[] {
  const count = Math.ceil(max / step - 1e-9)
  // Multiplied, not added up: 3 × 0.1 must read 0.3.
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)))
}

function decimalStep(atLeast: number): number {
  const power = 10 ** Math.floor(Math.log10(atLeast))
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= atLeast * (1 - 1e-9)) ?? 10
  return factor * power
}
