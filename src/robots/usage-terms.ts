// `ai-train=no, search=yes`: what content may be used for, as Content-Signal (Cloudflare) and Content-Usage (IETF aipref)
// say it, in a line of robots.txt or in a header. Both are lists of `label=value`; neither is a standard yet, and labels
// that went through earlier drafts are still in the field. What cannot be read says nothing.

import type { OptOut } from '../base/index.ts'

export interface UsageTerms {
  readonly denied: readonly OptOut[]
  readonly allowed: readonly OptOut[]
}

const LABELS: ReadonlyMap<string, OptOut> = new Map([
  ['search', 'noindex'],
  ['ai-train', 'ai-train'],
  ['train-ai', 'ai-train'],
  ['train-genai', 'ai-train'],
  ['genai', 'ai-train'],
  ['ai-input', 'ai-input'],
  ['ai-use', 'ai-input'],
  ['search-ai', 'ai-input'],
  ['ai', 'noai'],
  ['tdm', 'tdm'],
])

const YES: ReadonlySet<string> = new Set(['yes', 'y'])
const NO: ReadonlySet<string> = new Set(['no', 'n'])
/** More terms than there are labels say nothing new; a header of 64 KiB must not cost more than one of ten words. */
const TERMS_MAX = 32

export function parseUsageTerms(text: string): UsageTerms {
  const denied: OptOut[] = []
  const allowed: OptOut[] = []
  for (const term of text.split(',', TERMS_MAX)) {
    // Parameters (`train-ai=n;x=1`) have no meaning yet.
    const [label = '', value = ''] = (term.split(';', 1)[0] ?? '').split('=', 2)
    const optOut = LABELS.get(label.trim().toLowerCase())
    if (optOut === undefined) continue
    const word = value.trim().toLowerCase()
    if (NO.has(word)) denied.push(optOut)
    else if (YES.has(word)) allowed.push(optOut)
  }
  return { denied, allowed }
}
