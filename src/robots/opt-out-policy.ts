// What is done about opt-outs. What a crawl is for decides which of them speak to it; whoever knows better says so for
// each of them (decision 0031).
//
//   note       the page is kept, and its line in pages.jsonl says what it asks
//   unstored   its line is kept and its links are followed, but no copy goes into the archive
//   skip       nothing of it is kept but its links; where it is known beforehand, it is not asked for

import type { OptOut } from '../base/index.ts'
import type { Wish } from './site-wishes.ts'

export const OPT_OUT_ACTIONS = ['note', 'unstored', 'skip'] as const
export type OptOutAction = (typeof OPT_OUT_ACTIONS)[number]

export const PURPOSES = ['archive', 'search', 'ai'] as const
export type Purpose = (typeof PURPOSES)[number]

const NOTE_ALL: Readonly<Record<OptOut, OptOutAction>> = {
  noindex: 'note',
  noarchive: 'note',
  nosnippet: 'note',
  noimageindex: 'note',
  noai: 'note',
  noimageai: 'note',
  'ai-train': 'note',
  'ai-input': 'note',
  tdm: 'note',
}
const ARCHIVE: typeof NOTE_ALL = { ...NOTE_ALL, noarchive: 'unstored' }
const BY_PURPOSE: Readonly<Record<Purpose, typeof NOTE_ALL>> = {
  archive: ARCHIVE,
  search: { ...ARCHIVE, noindex: 'skip', noimageindex: 'skip' },
  ai: { ...ARCHIVE, noai: 'skip', noimageai: 'skip', 'ai-train': 'skip', 'ai-input': 'skip', tdm: 'skip' },
}

/** Of a page these speak of its images only: they bind where the page is one. */
const OF_IMAGES: ReadonlySet<OptOut> = new Set<OptOut>(['noimageindex', 'noimageai'])

export class OptOutPolicy {
  readonly #actions: Readonly<Record<OptOut, OptOutAction>>
  /** Whether tdmrep.json is asked for, one request per origin and day. */
  readonly wantsTdmFile: boolean

  constructor(options: {
    readonly robots: 'obey' | 'ignore'
    readonly purpose: Purpose
    readonly optOuts: Readonly<Partial<Record<OptOut, OptOutAction>>>
    readonly tdmFile: 'if-binding' | 'always'
  }) {
    const isObeyed = options.robots === 'obey'
    this.#actions = isObeyed ? { ...BY_PURPOSE[options.purpose], ...options.optOuts } : NOTE_ALL
    this.wantsTdmFile = isObeyed && (options.tdmFile === 'always' || this.#actions.tdm !== 'note')
  }

  /** The strictest of what follows, and from which of them. */
  actionFor(
    optOuts: readonly OptOut[],
    mediaType: string | null,
  ): { readonly action: OptOutAction; readonly by: OptOut | null } {
    let strictest: { action: OptOutAction; by: OptOut | null } = NOTHING
    for (const optOut of optOuts) {
      const action = this.#actions[optOut]
      if (action === 'note' || action === strictest.action || strictest.action === 'skip') continue
      if (OF_IMAGES.has(optOut) && mediaType?.startsWith('image/') !== true) continue
      strictest = { action, by: optOut }
    }
    return strictest
  }

  /** Of what a site asks for a URL: the wish for which it is not even asked for; null where there is none. */
  firstToSkip(wishes: readonly Wish[]): Wish | null {
    return wishes.find(({ optOut }) => !OF_IMAGES.has(optOut) && this.#actions[optOut] === 'skip') ?? null
  }
}

const NOTHING = { action: 'note', by: null } as const
