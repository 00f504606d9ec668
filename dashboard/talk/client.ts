// Questions to the control API. Methods and paths are the server's own table; answers have the types of its schemas.

import type { AnswerOf, BodyOf, ParamsOf, RouteName } from '../../src/control/api.ts'
import { PATHS } from '../../src/control/paths.ts'
import { refuseToken, token } from './session.ts'

export interface FieldError {
  readonly where: string
  readonly what: string
}

/** What went wrong, in words for people; `fields` where single fields of a form are at fault. */
export class ApiError extends Error {
  /** 0: nobody answered. */
  readonly status: number
  readonly code: string
  readonly fields: readonly FieldError[]

  constructor(status: number, code: string, message: string, fields: readonly FieldError[] = []) {
    super(message)
    this.status = status
    this.code = code
    this.fields = fields
  }
}

export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error
  return new ApiError(0, 'unknown', error instanceof Error ? error.message : String(error))
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError'
}

/** `:name` from the params, what is left over as a query. */
export function addressOf(path: string, params: Readonly<Record<string, unknown>>): string {
  const query = new URLSearchParams()
  const inPath = new Set<string>()
  const filled = path.replaceAll(/:(\w+)/g, (_, name: string) => {
    inPath.add(name)
    return encodeURIComponent(String(params[name]))
  })
  for (const [name, value] of Object.entries(params)) {
    if (inPath.has(name) || value === undefined || value === null || value === '') continue
    query.set(name, typeof value === 'string' ? value : JSON.stringify(value))
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`
}

export async function call<N extends RouteName>(
  name: N,
  params: ParamsOf<N>,
  body?: BodyOf<N>,
  signal?: AbortSignal,
): Promise<AnswerOf<N>> {
  const { method, path } = PATHS[name]
  const sends = method !== 'GET'
  const response = await ask(addressOf(path, params), {
    method,
    headers: sends ? { 'content-type': 'application/json' } : {},
    ...(sends ? { body: JSON.stringify(body ?? {}) } : {}),
    ...(signal === undefined ? {} : { signal }),
  })
  return (await response.json()) as AnswerOf<N>
}

/** A response that is well, or an ApiError. */
export async function ask(
  address: string,
  { headers, ...init }: Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> },
): Promise<Response> {
  let response: Response
  try {
    response = await fetch(address, {
      ...init,
      headers: { ...headers, ...(token.value === null ? {} : { authorization: `Bearer ${token.value}` }) },
      cache: 'no-store',
      credentials: 'omit',
    })
  } catch (error) {
    if (isAbort(error)) throw error
    throw new ApiError(0, 'unreachable', 'The server does not answer. Does its process still run?')
  }
  if (response.ok) return response
  if (response.status === 401) refuseToken()
  throw await errorOf(response)
}

async function errorOf(response: Response): Promise<ApiError> {
  try {
    const { error } = (await response.json()) as {
      error: { code: string; message: string; fields?: readonly FieldError[] }
    }
    return new ApiError(response.status, error.code, error.message, error.fields ?? [])
  } catch {
    return new ApiError(
      response.status,
      'answer',
      `The server answered with ${response.status} ${response.statusText}.`,
    )
  }
}
