// Asked for when the server does not know who we are: the link was opened without its end, or the server was started anew.

import { useState } from 'preact/hooks'
import { TextField } from './parts/form.tsx'
import { takeToken, token } from './talk/session.ts'

export function TokenForm() {
  const [text, setText] = useState('')
  return (
    <form
      class="card narrow token-form"
      onSubmit={(event) => {
        event.preventDefault()
        // The whole link is taken as well.
        const found = /#token=([^&\s]+)/.exec(text)?.[1]
        const given = found === undefined ? text.trim() : decodeURIComponent(found)
        if (given !== '') takeToken(given)
      }}
    >
      <h1 tabIndex={-1}>{token.value === null ? 'Who is there?' : 'This token is not known'}</h1>
      <p class="soft">
        The server lets in whoever has its token. It is the end of the link that was printed when the server began, and
        stands in the file <code>state/ui.json</code> of the crawl.
      </p>
      <TextField
        label="Token, or the whole link"
        kind="secret"
        value={text}
        onValue={setText}
        hint="Kept until this tab is closed."
      />
      <div class="form-actions">
        <button type="submit" class="button main">
          Let me in
        </button>
      </div>
    </form>
  )
}
