// Domains that are not to be visited: named, previewed, applied.

import { useState } from 'preact/hooks'
import type { AnswerOf, CrawlInfo } from '../../src/control/api.ts'
import { Card, Shown } from '../parts/basics.tsx'
import { errorAt, FormTrouble, LinesField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { Preview } from '../parts/preview.tsx'
import { call } from '../talk/client.ts'
import { shown } from '../words/crawled-text.ts'
import { count } from '../words/formats.ts'
import { blackListOf, domainsIn } from './black-list.ts'

const SHOWN_MAX = 40

export function BlackListCard({
  info,
  settings,
  onDone,
}: {
  info: CrawlInfo
  settings: AnswerOf<'settings'>['settings']
  onDone: () => void
}) {
  const [text, setText] = useState('')
  const [preview, setPreview] = useState<AnswerOf<'preview'> | null>(null)
  const doing = useDoing()
  const list = blackListOf(settings)
  if (list === null) return null
  const where = `options.${list.section}.${list.key}`
  const added = domainsIn(text).filter((domain) => !list.domains.includes(domain))
  const optionsWith = (domains: readonly string[]): Record<string, Record<string, unknown>> => ({
    [list.section]: { [list.key]: list.valueWith(domains) },
  })
  const look = async (): Promise<void> =>
    setPreview(await call('preview', { crawl: info.id }, { options: optionsWith([...list.domains, ...added]) }))
  const set = async (domains: readonly string[]): Promise<void> => {
    const answer = await call('set', { crawl: info.id }, { options: optionsWith(domains) })
    tell(answer.text)
    setText('')
    setPreview(null)
    onDone()
  }
  return (
    <Card title="Black list" note="Domains that are never visited, with everything below them.">
      <FormTrouble error={doing.error} known={[where]} />
      {list.domains.length === 0 ? (
        <p class="soft nothing">No domain is black-listed.</p>
      ) : (
        <ul class="chips" aria-label="Black-listed domains">
          {list.domains.slice(0, SHOWN_MAX).map((domain) => (
            <li key={domain}>
              <Shown text={domain} most={80} />
              {info.can.includes('set') ? (
                <button
                  type="button"
                  aria-label={`Allow ${shown(domain, 80)} again`}
                  disabled={doing.isBusy}
                  onClick={() => void doing.run(() => set(list.domains.filter((one) => one !== domain)))}
                >
                  ✕
                </button>
              ) : null}
            </li>
          ))}
          {list.domains.length > SHOWN_MAX ? <li>and {count(list.domains.length - SHOWN_MAX)} more</li> : null}
        </ul>
      )}
      {!info.can.includes('set') ? null : (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            if (added.length > 0) void doing.run(() => set([...list.domains, ...added]))
          }}
        >
          <LinesField
            label="Domains to black-list"
            hint="One a line; a whole URL is taken as its host."
            rows={2}
            placeholder="ads.example.org"
            value={text}
            onValue={(value) => {
              setText(value)
              setPreview(null)
            }}
            error={errorAt(doing.error?.fields ?? [], where)}
          />
          {preview === null ? null : <Preview preview={preview} />}
          <div class="form-actions">
            <button
              type="button"
              class="button"
              disabled={doing.isBusy || added.length === 0}
              onClick={() => void doing.run(look)}
            >
              {doing.isBusy ? 'Looking …' : 'Preview'}
            </button>
            <button type="submit" class="button main" disabled={doing.isBusy || added.length === 0}>
              Black-list {added.length > 1 ? `${count(added.length)} domains` : ''}
            </button>
          </div>
        </form>
      )}
    </Card>
  )
}
