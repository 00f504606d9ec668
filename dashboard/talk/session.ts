// The token that lets us in. It comes in the fragment of the printed link, which browsers send to nobody; it is taken out of the address
// at once, so that neither a bookmark nor a screenshot holds it, and kept for as long as the tab lives.

import { Store } from './store.ts'

const KEY = 'portolan-token'

/** Null: none is known. */
export const token = new Store<string | null>(null)
/** The server does not take the one we have. */
export const isTokenRefused = new Store(false)

/** Call before routes are read: it may replace the fragment. */
export function openSession(): void {
  takeFromFragment()
  token.set(token.value ?? sessionStorage.getItem(KEY))
  addEventListener('hashchange', takeFromFragment)
}

function takeFromFragment(): void {
  const match = /^#token=([^&]+)&?(.*)$/.exec(location.hash)
  if (match === null) return
  history.replaceState(null, '', `#${match[2] === '' ? '/' : match[2]}`)
  takeToken(decodeURIComponent(match[1] ?? ''))
}

export function takeToken(text: string): void {
  sessionStorage.setItem(KEY, text)
  token.set(text)
  isTokenRefused.set(false)
}

export function refuseToken(): void {
  isTokenRefused.set(true)
}
