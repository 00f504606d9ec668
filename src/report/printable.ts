// Text from the web on its way to a terminal. A title may hold escape sequences that clear the screen,
// rewrite what stands above, or set the clipboard; direction marks that show one URL and mean another.

/** C0 and C1 controls with DEL, line and paragraph separators, direction marks, tags that nobody sees, and lone surrogates. */
const UNPRINTABLE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|\udb40[\udc00-\udc7f]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/**
 * The text with everything that could act on a terminal made visible: white space controls become a
 * space, others the replacement character. One line in, one line out.
 */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (found) => (found === '\t' || found === '\n' || found === '\r' ? ' ' : '\ufffd'))
}
