// Answers by the first digit of their status: what is told of them at a glance.

export type AnswerClass = '2xx' | '3xx' | '4xx' | '5xx' | 'other'
/** Pages that were asked for again and are as they were (304) lead nowhere: apart from 3xx, where there are any. */
export type AnswerCounts = Record<AnswerClass, number> & { unchanged?: number }
export type Answers = Readonly<AnswerCounts>

export function answerClassOf(status: number): keyof AnswerCounts {
  if (status === 304) return 'unchanged'
  return status >= 200 && status < 600 ? (`${Math.floor(status / 100)}xx` as AnswerClass) : 'other'
}

/** Every class, with nothing counted for those that are missing. */
export function answersOf(counts: Readonly<Partial<AnswerCounts>>): AnswerCounts {
  return {
    '2xx': counts['2xx'] ?? 0,
    '3xx': counts['3xx'] ?? 0,
    '4xx': counts['4xx'] ?? 0,
    '5xx': counts['5xx'] ?? 0,
    other: counts.other ?? 0,
    ...(counts.unchanged === undefined ? {} : { unchanged: counts.unchanged }),
  }
}
