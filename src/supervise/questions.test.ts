import { expect, test } from 'vitest'
import type { AgentQuestion } from './agent-questions.ts'
import { Questions } from './questions.ts'

const TRACE: AgentQuestion = { ask: 'trace', url: 'http://a.test/' }

function standOf(agents: number): { readonly questions: Questions; readonly told: string[] } {
  const told: string[] = []
  const questions = new Questions(agents, (agent, number, { ask }) => told.push(`${agent} ${number} ${ask}`))
  return { questions, told }
}

const answer = (number: number) => ({ kind: 'answer', number, answer: null, fault: null }) as const

test('all agents are asked, and all must answer; one that died is asked again when it is back', async () => {
  const { questions, told } = standOf(2)
  const asked = questions.ask(TRACE)
  expect(told).toEqual(['0 1 trace', '1 1 trace'])
  questions.hear(0, answer(1))
  questions.hear(0, answer(1))
  questions.isBack(0)
  expect(told).toHaveLength(2)
  questions.isBack(1)
  expect(told[2]).toBe('1 1 trace')
  questions.hear(1, answer(7))
  questions.hear(1, answer(1))
  expect(await asked).toEqual([null, null])
})

test('what one agent cannot do fails for all; after the end nobody is asked', async () => {
  const { questions } = standOf(2)
  const failed = questions.ask(TRACE)
  const fault = { code: 'DISK_FULL', message: 'no room', stack: null } as const
  questions.hear(1, { kind: 'answer', number: 1, answer: null, fault })
  await expect(failed).rejects.toMatchObject({ code: 'DISK_FULL' })
  const open = questions.ask(TRACE)
  questions.end()
  await expect(open).rejects.toMatchObject({ code: 'CALL_UNANSWERED' })
  await expect(questions.ask(TRACE)).rejects.toMatchObject({ code: 'CALL_UNANSWERED' })
})
