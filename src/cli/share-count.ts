// In how many shares a crawl of several machines is cut.

import type { Problem } from '../config/index.ts'

export const SHARES_USUAL = 8
const SHARES_MAX = 1_024

export function readShares(text: string | undefined, problems: Problem[]): number {
  const shares = text === undefined ? SHARES_USUAL : Number(text)
  if (Number.isInteger(shares) && shares >= 1 && shares <= SHARES_MAX) return shares
  problems.push({ where: '--shares', what: `'${text}' is no whole number from 1 to ${SHARES_MAX}` })
  return SHARES_USUAL
}
