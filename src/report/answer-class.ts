// Answers by the first digit of their status: what is told of them at a glance.

export type AnswerClass = '2xx' | '3xx' | '4xx' | '5xx' | 'other'
export type Answers = Readonly<Record<AnswerClass, number>>

export function answerClassOf(status: number): AnswerClass {
  return status >= 200 && status < 600 ? (`${Math.floor(status / 100)}xx` as AnswerClass) : 'other'
}

/** Every class, with nothing counted for those that are missing. */
export function answersOf(counts: Readonly<Partial<Record<AnswerClass, number>>>): Record<AnswerClass, number> {
  return {
    '2xx': counts['2xx'] ?? 0,
    '3xx': counts['3xx'] ?? 0,
    '4xx': counts['4xx'] ?? 0,
    '5xx': counts['5xx'] ?? 0,
    other: counts.other ?? 0,
  }
}
