// Which metas speak to robots. `robots` always does. Any other name may be a crawler's (`googlebot`,
// `archive.org_bot`), and we cannot know them all: such a meta is kept when the name ends in `bot`, or when its content
// begins with a word that only robots understand. Keeping one too many is harmless, whoever obeys looks for its own name.
// The two of the TDM Reservation Protocol speak to robots as well.

const DIRECTIVE =
  /^(?:(?:all|none|(?:no)?index|(?:no)?follow|(?:no)?archive|nosnippet|noimageindex|notranslate|nocache|noai|noimageai|noml|indexifembedded)(?= *(?:,|$))|max-(?:snippet|image-preview|video-preview):|unavailable_after:)/

/** Name and content in lower case (a URL as it is), or null when the meta is not for robots. */
export function robotsMeta(name: string, content: string): [name: string, content: string] | null {
  if (name === '') return null
  if (name === 'tdm-reservation' || name === 'tdm-policy') return [name, content]
  const lower = content.toLowerCase()
  return name === 'robots' || name.endsWith('bot') || DIRECTIVE.test(lower) ? [name, lower] : null
}
