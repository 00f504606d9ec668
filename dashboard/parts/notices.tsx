// What was just done, said once: on the screen for some seconds, and to whoever listens instead of looking.

import { Store, useStore } from '../talk/store.ts'

interface Notice {
  readonly number: number
  readonly text: string
}

const SHOWN_MS = 6_000
const notices = new Store<readonly Notice[]>([])
let last = 0

export function tell(text: string): void {
  const notice = { number: ++last, text }
  notices.set([...notices.value.slice(-2), notice])
  setTimeout(() => notices.set(notices.value.filter((one) => one !== notice)), SHOWN_MS)
}

export function Notices() {
  const shown = useStore(notices)
  return (
    <div class="notices" role="status" aria-live="polite">
      {shown.map(({ number, text }) => (
        <p key={number}>{text}</p>
      ))}
    </div>
  )
}
