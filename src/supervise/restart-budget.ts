// How often something may break before starting it again is a loop and not a cure.

export class RestartBudget {
  readonly #most: number
  readonly #withinMs: number
  #times: number[] = []

  constructor(most: number, withinMs: number) {
    this.#most = most
    this.#withinMs = withinMs
  }

  /** True when one more restart is within the budget; it is spent by asking. */
  spend(nowMs: number): boolean {
    this.#times = this.#times.filter((time) => time > nowMs - this.#withinMs)
    if (this.#times.length >= this.#most) return false
    this.#times.push(nowMs)
    return true
  }
}

/** Faults that would come again at once: starting again is no cure. */
const LASTING = new Set([
  'CONFIG_INVALID',
  'DISK_FULL',
  'DISK_READ_ONLY',
  'DISK_FAILED',
  'LEDGER_CORRUPT',
  'LEDGER_VERSION',
  'LEDGER_LOCKED',
  'SHARE_LOST',
])

export function isLasting(fault: unknown): boolean {
  const { code } = fault as { readonly code?: string | null }
  return code != null && LASTING.has(code)
}

/** Faults of an engine that is away: they pass by themselves, and are off no budget. */
export function isWaitedOut(fault: unknown): boolean {
  const { code } = fault as { readonly code?: string | null }
  return code === 'ENGINE_UNREACHABLE' || code === 'NODE_FENCED'
}
