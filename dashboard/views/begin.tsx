// The form that begins a crawl: seeds, how far, how fast, how much. Everything else can be set once it stands.

import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { ChoiceField, errorAt, FormTrouble, LinesField, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { go, hrefOf } from '../route.ts'
import { ApiError, call } from '../talk/client.ts'
import { limitOf } from './limits.ts'

const SCOPES = [
  ['host', 'the hosts of the seeds'],
  ['domain', 'their registrable domains'],
  ['prefix', 'their directories'],
  ['any', 'anywhere'],
] as const

const MORE = 'more options'
const FIELDS = [
  MORE,
  'name',
  'seeds',
  'options.url.scope',
  'options.url.maxDepth',
  'options.frontier.delay',
  'options.agent.maxPages',
  'options.agent.maxTime',
]

type Options = Record<string, Record<string, unknown>>

/** As in a configuration file; the server says what is wrong within it, we only whether it is JSON. */
function optionsIn(text: string): Options {
  if (text.trim() === '') return {}
  try {
    return JSON.parse(text) as Options
  } catch (error) {
    const what = `is not JSON: ${error instanceof Error ? error.message : String(error)}`
    throw new ApiError(0, 'options', what, [{ where: MORE, what }])
  }
}

export function BeginDialog({ onClose }: { onClose: () => void }) {
  const [seeds, setSeeds] = useState('')
  const [name, setName] = useState('')
  const [scope, setScope] = useState('host')
  const [delay, setDelay] = useState('1s')
  const [maxPages, setMaxPages] = useState('')
  const [maxDepth, setMaxDepth] = useState('')
  const [maxTime, setMaxTime] = useState('')
  const [more, setMore] = useState('')
  const doing = useDoing()
  const fields = doing.error?.fields ?? []
  const said = (values: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined && value !== ''))

  const begin = async (): Promise<void> => {
    const others = optionsIn(more)
    const own: Options = {
      url: said({ scope, maxDepth: limitOf(maxDepth) }),
      frontier: said({ delay: delay.trim() }),
      agent: said({ maxPages: limitOf(maxPages), maxTime: maxTime.trim() }),
    }
    const sections = [...new Set([...Object.keys(own), ...Object.keys(others)])]
    const crawl = await call(
      'create',
      {},
      {
        seeds: seeds.split(/\s+/).filter((seed) => seed !== ''),
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        options: Object.fromEntries(sections.map((section) => [section, { ...own[section], ...others[section] }])),
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
        <details>
          <summary>More options</summary>
          <LinesField
            label="As in a configuration file"
            hint="JSON, by section. Every option can also be changed later, in the settings."
            placeholder='{ "robots": { "sitemaps": "follow" } }'
            rows={3}
            value={more}
            onValue={setMore}
            error={errorAt(fields, MORE)}
          />
        </details>
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
