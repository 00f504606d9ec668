// Text to fill pages with, in a few languages. Cut from one long run of sentences made at start-up, so
// that a paragraph costs one copy and no work.

import { Random } from '../../src/base/index.ts'

export type Language = 'en' | 'fr' | 'ru' | 'ja' | 'el'

const WORDS: Readonly<Record<Language, string>> = {
  en: 'coast harbour chart wind sail compass rose rhumb line port anchor lantern tide shore island cape bay gulf strait current depth fathom rope mast crew captain pilot log voyage star north lead sounding reef shoal quay cargo letter map vellum ink scale border legend',
  fr: 'côte île été forêt château fenêtre là-bas déjà phare marée rivière goéland carte étoile océan mât équipage août naïf façade cœur',
  ru: 'берег карта ветер море парус компас гавань остров мыс залив течение глубина звезда север якорь маяк',
  ja: '海岸 地図 風 海 帆 羅針盤 港 島 岬 湾 潮 深さ 星 北 錨 灯台 ことば みなと カタカナ',
  el: 'ακτή χάρτης άνεμος θάλασσα πανί πυξίδα λιμάνι νησί ακρωτήριο κόλπος ρεύμα βάθος αστέρι',
}

/** Long enough that two pages rarely share a paragraph, short enough to stay in the cache. */
const RUN_CHARS = 1 << 16

/** A word of each language that its page asks for in a query. */
export const QUERY_WORDS: Readonly<Record<Language, string>> = {
  en: 'coast',
  fr: 'île',
  ru: 'море',
  ja: '日本',
  el: 'ακτή',
}

export class Filler {
  readonly #runs = new Map<Language, string>()
  readonly #english = Buffer.from(makeRun('en'), 'latin1')

  /** So many characters, from a place chosen by `hash`. */
  take(language: Language, hash: number, chars: number): string {
    const run = this.#run(language)
    if (chars <= 0) return ''
    if (chars >= RUN_CHARS) return run + this.take(language, hash, chars - RUN_CHARS)
    const start = hash % (RUN_CHARS - chars)
    return run.slice(start, start + chars)
  }

  /** The same, as the bytes they are in English. Returns how many. */
  copyEnglish(target: Buffer, at: number, hash: number, chars: number): number {
    let whole = 0
    for (; chars - whole >= RUN_CHARS; whole += RUN_CHARS) this.#english.copy(target, at + whole)
    const rest = chars - whole
    const start = hash % (RUN_CHARS - rest)
    this.#english.copy(target, at + whole, start, start + rest)
    return chars
  }

  #run(language: Language): string {
    let run = this.#runs.get(language)
    if (run === undefined) {
      run = makeRun(language)
      this.#runs.set(language, run)
    }
    return run
  }
}

function makeRun(language: Language): string {
  const random = new Random(`filler ${language}`)
  const words = WORDS[language].split(' ')
  const parts: string[] = []
  let chars = 0
  while (chars < RUN_CHARS) {
    const length = 6 + random.below(12)
    const sentence = `${Array.from({ length }, () => random.pick(words)).join(' ')}. `
    parts.push(sentence)
    chars += sentence.length
  }
  return parts.join('').slice(0, RUN_CHARS)
}
