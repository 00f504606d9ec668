// Drops parameters that name a session, by a rule of the user: off unless configured, because a
// parameter called `sid` is a session on one site and an article on the next.

/** Names match in any case, in the query (`?a=1&sid=2`) and as path parameters (`/page;jsessionid=3`). */
export function compileSessionIds(names: readonly string[]): (url: string) => string {
  const dropped = new Set(names.map((name) => name.toLowerCase()))

  const isDropped = (parameter: string): boolean => {
    const equals = parameter.indexOf('=')
    return dropped.has((equals === -1 ? parameter : parameter.slice(0, equals)).toLowerCase())
  }

  return (url) => {
    const question = url.indexOf('?')
    const path = question === -1 ? url : url.slice(0, question)
    const keptPath = path.includes(';')
      ? path.replace(/;[^;/]*/g, (parameter) => (isDropped(parameter.slice(1)) ? '' : parameter))
      : path
    if (question === -1) return keptPath
    const parameters = url.slice(question + 1).split('&')
    const kept = parameters.filter((parameter) => !isDropped(parameter))
    if (kept.length === parameters.length) return keptPath + url.slice(question)
    return kept.length === 0 ? keptPath : `${keptPath}?${kept.join('&')}`
  }
}
