// Reads the text format of Prometheus as strictly as its definition allows: what a lenient reader would forgive fails here.
// (prometheus.io/docs/instrumenting/exposition_formats: HELP and TYPE once and before the samples, lines of a metric together, no
// sample twice, counters by their suffix, escapes, a line end at the end.)

export interface PrometheusFamily {
  readonly help: string
  readonly type: string
  /** Labels as `a=1,b=2`, in the order they stand, and the value. */
  readonly samples: Map<string, number>
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const HELP = new RegExp(`^# HELP (${NAME}) (.+)$`)
const TYPE = new RegExp(`^# TYPE (${NAME}) (counter|gauge)$`)
const SAMPLE = new RegExp(`^(${NAME})\\{(.*)\\} (NaN|[+-]Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)$`)
const LABEL = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\n"])*)"(,|$)/

export function parsePrometheus(text: string): Map<string, PrometheusFamily> {
  const families = new Map<string, PrometheusFamily>()
  if (text === '') return families
  const lines = text.split('\n')
  if (lines.pop() !== '') throw new Error('the last line has no end')
  let help: readonly [name: string, text: string] | null = null
  let current: string | null = null
  for (const line of lines) {
    const complain = (what: string): Error => new Error(`${what}: ${line}`)
    const [, helpName, helpText = ''] = HELP.exec(line) ?? []
    const [, typeName, type = ''] = TYPE.exec(line) ?? []
    if (helpName !== undefined) {
      if (families.has(helpName)) throw complain('a metric twice')
      if (/\\(?![\\n])/.test(helpText.replaceAll('\\\\', ''))) throw complain('an escape that is none')
      help = [helpName, helpText]
      current = null
    } else if (typeName !== undefined) {
      if (help?.[0] !== typeName) throw complain('a type without its help')
      if ((type === 'counter') !== typeName.endsWith('_total')) throw complain('a name that does not say its type')
      families.set(typeName, { help: help[1], type, samples: new Map() })
      current = typeName
    } else {
      const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? []
      if (name === undefined) throw complain('no line of this format')
      const family = families.get(name)
      if (family === undefined || name !== current) throw complain('a sample outside of its metric')
      const key = labelsOf(labels, complain).join(',')
      if (family.samples.has(key)) throw complain('a sample twice')
      family.samples.set(key, Number(value.replace('Inf', 'Infinity')))
    }
  }
  return families
}

function labelsOf(text: string, complain: (what: string) => Error): string[] {
  const found: string[] = []
  const names = new Set<string>()
  for (let rest = text; rest !== '';) {
    const [whole, name = '', value = '', comma] = LABEL.exec(rest) ?? []
    if (whole === undefined) throw complain('labels that are none')
    if (names.has(name)) throw complain('a label twice')
    names.add(name)
    rest = rest.slice(whole.length)
    if (comma === ',' && rest === '') throw complain('a comma with nothing behind it')
    found.push(`${name}=${value.replaceAll(/\\(.)/g, (_, one: string) => (one === 'n' ? '\n' : one))}`)
  }
  return found
}
