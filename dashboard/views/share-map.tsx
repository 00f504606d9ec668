// Which node holds which share, as a field of cells: one looks at it while shares move. Whoever does not see it reads the table below.

import { count } from '../words/formats.ts'
import { shown } from '../words/crawled-text.ts'

interface Holder {
  readonly node: string
  readonly shares: readonly number[]
}

const TONES = 8

export function toneOfNode(at: number): string {
  return `node-${at % TONES}`
}

/** 0–3, 7, 9–12 */
export function rangesOf(numbers: readonly number[]): string {
  const sorted = [...numbers].sort((a, b) => a - b)
  const parts: string[] = []
  let from: number | null = null
  for (const [at, number] of sorted.entries()) {
    from ??= number
    if (sorted[at + 1] === number + 1) continue
    parts.push(from === number ? `${number}` : `${from}–${number}`)
    from = null
  }
  return parts.length > 10 ? `${parts.slice(0, 10).join(', ')} …` : parts.join(', ')
}

export function ShareMap({ shares, nodes }: { shares: number; nodes: readonly Holder[] }) {
  const holders = new Map<number, number>()
  for (const [at, { shares: held }] of nodes.entries()) for (const share of held) holders.set(share, at)
  const nobody = Array.from({ length: shares }, (_, share) => share).filter((share) => !holders.has(share)).length
  const said = nodes.map(({ node, shares: held }) => `${shown(node, 60)} holds ${held.length}`).join(', ')
  return (
    <>
      <div
        class={`share-map${shares > 128 ? ' many' : ''}`}
        role="img"
        aria-label={`Map of ${shares} shares: ${said}${nobody === 0 ? '' : `, ${nobody} held by nobody`}`}
      >
        {Array.from({ length: shares }, (_, share) => {
          const at = holders.get(share)
          const name = at === undefined ? 'nobody' : shown(nodes[at]?.node ?? '', 60)
          return (
            <span key={share} class={at === undefined ? 'node-none' : toneOfNode(at)} title={`share ${share}: ${name}`}>
              {share}
            </span>
          )
        })}
      </div>
      <ul class="legend" aria-label="Shares by node">
        {nodes.map(({ node, shares: held }, at) => (
          <li key={node}>
            <i class={toneOfNode(at)} aria-hidden="true" />
            <strong>{count(held.length)}</strong> {shown(node, 60)}
          </li>
        ))}
        {nobody === 0 ? null : (
          <li>
            <i class="node-none" aria-hidden="true" />
            <strong>{count(nobody)}</strong> on their way
          </li>
        )}
      </ul>
    </>
  )
}
