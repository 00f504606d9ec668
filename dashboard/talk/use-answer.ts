// An answer of the API for as long as a view is open: asked for when the question changes, again every so often if that is wished, and
// never while the tab is hidden. What was answered last stays visible while the next answer is on its way, or fails.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { AnswerOf, ParamsOf, RouteName } from '../../src/control/api.ts'
import { type ApiError, asApiError, call, isAbort } from './client.ts'

export interface Answered<T> {
  readonly data: T | null
  readonly error: ApiError | null
  readonly isLoading: boolean
  readonly again: () => void
}

interface Held<T> {
  readonly key: string
  readonly data: T | null
  readonly error: ApiError | null
  readonly isLoading: boolean
}

export function useAnswer<N extends RouteName>(
  name: N,
  params: ParamsOf<N> | null,
  everyMs: number | null = null,
): Answered<AnswerOf<N>> {
  const key = `${name} ${JSON.stringify(params)}`
  const [held, setHeld] = useState<Held<AnswerOf<N>>>({ key, data: null, error: null, isLoading: true })
  const [round, setRound] = useState(0)
  const asked = useRef(params)
  asked.current = params

  useEffect(() => {
    const given = asked.current
    if (given === null) return
    const abort = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (): Promise<void> => {
      setHeld((old) =>
        old.key === key ? { ...old, isLoading: true } : { key, data: null, error: null, isLoading: true },
      )
      try {
        const data = await call(name, given, undefined, abort.signal)
        if (!abort.signal.aborted) setHeld({ key, data, error: null, isLoading: false })
      } catch (error) {
        if (isAbort(error) || abort.signal.aborted) return
        setHeld((old) => ({ key, data: old.key === key ? old.data : null, error: asApiError(error), isLoading: false }))
      }
      later()
    }
    const later = (): void => {
      clearTimeout(timer)
      if (everyMs !== null && !document.hidden && !abort.signal.aborted) timer = setTimeout(() => void load(), everyMs)
    }
    const onVisible = (): void => {
      clearTimeout(timer)
      if (everyMs !== null && !document.hidden) void load()
    }
    void load()
    document.addEventListener('visibilitychange', onVisible)
    return () => {
      abort.abort()
      clearTimeout(timer)
      document.removeEventListener('visibilitychange', onVisible)
    }
  }, [key, name, everyMs, round])

  const again = useCallback(() => setRound((last) => last + 1), [])
  const current = held.key === key ? held : { data: null, error: null, isLoading: true }
  return { data: current.data, error: current.error, isLoading: current.isLoading, again }
}
