// The form that begins a crawl: seeds, how far, how fast, how much. Everything else can be set once it stands.

import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { ChoiceField, errorAt, FormTrouble, LinesField, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { go, hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'

const SCOPES = [
  ['host', 'the hosts of the seeds'],
  ['domain', 'their registrable domains'],
  ['prefix', 'their directories'],
  ['any', 'anywhere'],
] as const

const FIELDS = ['name', 'seeds', 'options.url.scope', 'options.url.maxDepth', 'options.frontier.delay', 'options.agent']

/** Numbers become numbers, what was left empty is not said. */
function limitOf(text: string): number | string | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  const value = Number(trimmed.replaceAll(/[, _]/g, ''))
  return Number.isNaN(value) ? trimmed : value
}

export function BeginDialog({ onClose }: { onClose: () => void }) {
  const [seeds, setSeeds] = useState('')
  const [name, setName] = useState('')
  const [scope, setScope] = useState('host')
  const [delay, setDelay] = useState('1s')
  const [maxPages, setMaxPages] = useState('')
  const [maxDepth, setMaxDepth] = useState('')
  const [maxTime, setMaxTime] = useState('')
  const doing = useDoing()
  const fields = doing.error?.fields ?? []
  const said = (values: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))

  const begin = async (): Promise<void> => {
    const crawl = await call(
      'create',
      {},
      {
        seeds: seeds.split(/\s+/).filter((seed) => seed !== ''),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        options: {
          url: said({ scope, maxDepth: limitOf(maxDepth) }),
          frontier: said({ delay: delay.trim() }),
          agent: said({ maxPages: limitOf(maxPages), maxTime: maxTime.trim() }),
        },
      },
    )
    tell(`The crawl ${crawl.name} has begun.`)
    onClose()
    go(hrefOf(crawl.id))
  }

  return (
    <Dialog title="Begin a crawl" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(begin)
        }}
      >
        <FormTrouble error={doing.error} known={FIELDS} />
        <LinesField
          label="Seeds"
          hint="URLs to start from, one a line."
          placeholder="https://example.org/"
          value={seeds}
          onValue={setSeeds}
          error={errorAt(fields, 'seeds')}
        />
        <div class="field-row">
          <ChoiceField
            label="Follow links within"
            value={scope}
            onValue={setScope}
            choices={SCOPES}
            error={errorAt(fields, 'options.url.scope')}
          />
          <TextField
            label="Rest of a host between two requests"
            value={delay}
            onValue={setDelay}
            hint="1s, 500ms, 2m"
            error={errorAt(fields, 'options.frontier.delay')}
          />
        </div>
        <div class="field-row three">
          <TextField
            label="Pages at most"
            placeholder="no limit"
            value={maxPages}
            onValue={setMaxPages}
            error={errorAt(fields, 'options.agent.maxPages')}
          />
          <TextField
            label="Depth at most"
            placeholder="no limit"
            value={maxDepth}
            onValue={setMaxDepth}
            error={errorAt(fields, 'options.url.maxDepth')}
          />
          <TextField
            label="Time at most"
            placeholder="no limit"
            value={maxTime}
            onValue={setMaxTime}
            error={errorAt(fields, 'options.agent.maxTime')}
          />
        </div>
        <TextField
          label="Name"
          hint="Of its directory; left empty, the first seed’s host."
          value={name}
          onValue={setName}
          error={errorAt(fields, 'name')}
        />
        <div class="form-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={doing.isBusy}>
            {doing.isBusy ? 'Beginning …' : 'Begin'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
