// HTML made of strings, safe by its type: `html` escapes every value put into it unless that value is
// itself Markup, and only `html` and the charts make Markup. So text of the web cannot become a tag.

/** A piece of HTML whose every foreign part is escaped. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Piece = Markup | string | number | null | readonly (Markup | null)[]

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Controls are no characters of HTML, and direction marks could show a URL that is not the one meant. */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (found) => ESCAPES[found] ?? '').replace(INVISIBLE, '\ufffd')
}

function render(piece: Piece): string {
  if (piece === null) return ''
  if (piece instanceof Markup) return piece.text
  if (typeof piece === 'string') return escapeHtml(piece)
  if (typeof piece === 'number') return String(piece)
  let text = ''
  for (const part of piece) if (part !== null) text += part.text
  return text
}

/** The fixed parts of a template without the indentation of the source, computed once for each. */
const compact = new WeakMap<TemplateStringsArray, readonly string[]>()

/** A template whose holes are escaped. Attributes must be quoted. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Markup {
  let parts = compact.get(strings)
  if (parts === undefined) compact.set(strings, (parts = strings.map((part) => part.replace(/\s*\n\s*/g, '\n'))))
  let text = parts[0] ?? ''
  for (let i = 0; i < pieces.length; i++) text += render(pieces[i] ?? null) + (parts[i + 1] ?? '')
  return new Markup(text)
}

/** Longest URL that is shown whole, and longest that is still made a link; both bound the report's size. */
const SHOWN_CHARACTERS_MAX = 160
const LINKED_CHARACTERS_MAX = 600

/** Long texts lose their middle: the host and the file name say most. */
export function shorten(text: string, charactersMax = SHOWN_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text
  const tail = Math.floor(charactersMax * 0.35)
  return `${text.slice(0, charactersMax - tail - 1)}…${text.slice(-tail)}`
}

/** The URL as a link when it is http or https and not absurdly long, as text otherwise. */
export function urlLink(url: string, shown: string = url): Markup {
  const label = html`${shorten(shown)}`
  if (!/^https?:\/\//i.test(url) || url.length > LINKED_CHARACTERS_MAX)
    return html`<span class="url" title="${shorten(url, LINKED_CHARACTERS_MAX)}">${label}</span>`
  return html`<a class="url" href="${url}" rel="noreferrer noopener nofollow">${label}</a>`
}
