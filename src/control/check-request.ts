// What a request asks for, checked by the schemas of its route: params and body as one object, or every field that is wrong.

import type { z } from 'zod'
import { describeIssue, nearest } from '../config/index.ts'
import { ROUTES, type RouteName } from './api.ts'
import type { FieldProblem } from './refusals.ts'

export type CheckedRequest =
  | { readonly kind: 'asked'; readonly crawl: string | null; readonly asked: Readonly<Record<string, unknown>> }
  | { readonly kind: 'problems'; readonly fields: readonly FieldProblem[] }

type Fields = Readonly<Record<string, unknown>>

/** `body` is null where none came. What the path says wins over a query of the same name. */
export function checkRequest(name: RouteName, path: Fields, query: Fields, body: unknown): CheckedRequest {
  const route = ROUTES[name]
  const fields: FieldProblem[] = []
  const params = check(route.params, { ...query, ...path }, fields)
  const content = route.body === null ? {} : check(route.body, body ?? {}, fields)
  if (fields.length > 0) return { kind: 'problems', fields }
  const { crawl = null, ...rest } = params as { readonly crawl?: string }
  return { kind: 'asked', crawl, asked: { ...rest, ...content } }
}

function check(schema: z.ZodObject, given: unknown, fields: FieldProblem[]): Fields {
  const unknown = isObject(given) ? Object.keys(given).filter((key) => !Object.hasOwn(schema.shape, key)) : []
  for (const key of unknown) {
    const meant = nearest(key, Object.keys(schema.shape))
    fields.push({ where: key, what: `unknown${meant === null ? '' : `; did you mean ${meant}?`}` })
  }
  const result = schema.safeParse(given)
  if (result.success) return result.data
  for (const issue of result.error.issues) {
    let received: unknown = given
    for (const step of issue.path) received = isObject(received) ? received[String(step)] : undefined
    fields.push({ where: issue.path.join('.') || 'body', what: describeIssue(issue, received) })
  }
  return {}
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
