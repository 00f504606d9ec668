// What a command tells on standard error: as text for people, or as a JSON object a line for programs (--log json).
//
//   {"time":"2026-01-01T12:00:00.000Z","kind":"agent","text":"Agent 3 broke (…) and was started again …"}
//   {"time":"2026-01-01T12:00:10.000Z","kind":"progress","pages":1204,"waiting":786,"pagesPerSecond":96.3, …}
//   {"time":"2026-01-01T12:01:00.000Z","kind":"end","stoppedBecause":"finished","pages":5120, …}
//
// One form for the whole process, which does one command. Names of figures are those of src/base/figure-table.ts.

import type { Problem } from '../config/index.ts'

const LOG_FORMS = ['text', 'json'] as const
type LogForm = (typeof LOG_FORMS)[number]

let form: LogForm = 'text'

export function useLogForm(wanted: LogForm): void {
  form = wanted
}

export function logForm(): LogForm {
  return form
}

/** Text as it is to be printed; each of its lines is an object in the other form. */
export function logText(kind: string, text: string): void {
  if (form === 'text') return void process.stderr.write(text)
  for (const line of text.split('\n')) if (line.trim() !== '') logFigures(kind, { text: line.trim() })
}

/** Only where the form is JSON: people are told the same in words. */
export function logFigures(kind: string, figures: Readonly<Record<string, unknown>>): void {
  if (form === 'json') process.stderr.write(`${jsonLine(kind, figures, new Date())}\n`)
}

export function jsonLine(kind: string, figures: Readonly<Record<string, unknown>>, now: Date): string {
  return JSON.stringify({ time: now.toISOString(), kind, ...figures })
}

/** Reads --log. What is wrong is told as text. */
export function chooseLogForm(said: string | undefined, problems: Problem[]): void {
  const wanted = said === undefined ? 'text' : LOG_FORMS.find((one) => one === said)
  if (wanted === undefined) {
    problems.push({ where: '--log', what: `'${said}' is not one of ${LOG_FORMS.join(', ')}` })
  } else useLogForm(wanted)
}
