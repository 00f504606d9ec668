// Questions to the control API: the crawler's own client (src/control/client.ts), with the token of this tab.

import type { AnswerOf, BodyOf, ParamsOf, RouteName } from '../../src/control/api.ts'
import {
  ControlError as ApiError,
  createClient,
  fetchTransport,
  type LiveListener,
  type Transport,
} from '../../src/control/client.ts'
import { refuseToken, token } from './session.ts'

export { ApiError }

export type FieldError = ApiError['fields'][number]

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, 'UNKNOWN', error instanceof Error ? error.message : String(error))
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

const transport: Transport = async (request) => {
  const answer = await fetchTransport(
    '',
    token.value,
  )(request).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    throw new ApiError(0, error.code, 'The server does not answer. Does its process still run?', [], error)
  })
  if (answer.status === 401) refuseToken()
  return answer
}

const client = createClient(transport, { who: 'dashboard' }) as {
  call(...asked: unknown[]): Promise<unknown>
  live(crawl: string, listener: LiveListener, signal: AbortSignal): Promise<void>
}

/** What is empty is not asked for: fields of a filter that nobody filled in. */
export async function call<N extends RouteName>(
  name: N,
  params: ParamsOf<N>,
  body?: BodyOf<N>,
  signal?: AbortSignal,
): Promise<AnswerOf<N>> {
  const said = Object.fromEntries(Object.entries(params).filter(([, value]) => value !== ''))
  return (await client.call(name, said, body, signal)) as AnswerOf<N>
}

export function live(crawl: string, listener: LiveListener, signal: AbortSignal): Promise<void> {
  return client.live(crawl, listener, signal)
}
