// What a change would do, before it is done.

import type { AnswerOf } from '../../src/control/api.ts'
import { count } from '../words/formats.ts'
import { EFFECTS, meaningOf } from '../words/meanings.ts'
import { Shown } from './basics.tsx'

export function Preview({ preview }: { preview: AnswerOf<'preview'> }) {
  const { hit, waiting, reasons, examples, isComplete, takesEffect } = preview
  const named = Object.entries(reasons).sort(([, a], [, b]) => b - a)
  return (
    <div class={`preview ${hit > 0 ? 'tone-warn' : 'tone-good'}`} role="status">
      <p>
        <strong>
          Skips {isComplete ? '' : 'at least '}
          {count(hit)} of {count(waiting)} waiting URLs
        </strong>
        <span class="soft">; {EFFECTS[takesEffect]}.</span>
      </p>
      {named.length === 0 ? null : (
        <ul>
          {named.map(([name, value]) => (
            <li key={name}>
              {count(value)} <code>{name}</code> <span class="soft">{meaningOf(name)}</span>
            </li>
          ))}
        </ul>
      )}
      {examples.length === 0 ? null : (
        <details>
          <summary>A few of them</summary>
          <ul class="url-list">
            {examples.map((url) => (
              <li key={url}>
                <Shown text={url} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
