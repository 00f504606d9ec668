// Light or dark: as the system says, unless one was chosen here; remembered by the browser.

import { Store } from './talk/store.ts'

export type Theme = 'system' | 'light' | 'dark'
const KEY = 'portolan-theme'

export const theme = new Store<Theme>('system')

export function openTheme(): void {
  const kept = localStorage.getItem(KEY)
  theme.subscribe((chosen) => {
    if (chosen === 'system') delete document.documentElement.dataset['theme']
    else document.documentElement.dataset['theme'] = chosen
    localStorage.setItem(KEY, chosen)
  })
  if (kept === 'light' || kept === 'dark') theme.set(kept)
}

export function nextTheme(chosen: Theme): Theme {
  return chosen === 'system' ? 'light' : chosen === 'light' ? 'dark' : 'system'
}
