// All that is known of one URL. The explanation is a record that grows with the crawler: what is known by name is told in words, and
// everything else is shown as it is.

import { useState } from 'preact/hooks'
import type { CrawlInfo } from '../../src/control/api.ts'
import { Awaited, Facts, Pill, Shown, Status, UrlLink } from '../parts/basics.tsx'
import { Field, FormTrouble, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { go, hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'
import { useAnswer } from '../talk/use-answer.ts'
import { shown, shownRecord } from '../words/crawled-text.ts'
import { bytes, count, duration, moment, things } from '../words/formats.ts'
import { meaningOf, type Tone } from '../words/meanings.ts'

type Thing = Readonly<Record<string, unknown>>

const STATES: Readonly<Record<string, readonly [Tone, string]>> = {
  page: ['good', 'It was fetched.'],
  failed: ['bad', 'It was asked for, and failed.'],
  skipped: ['warn', 'It was met, and not fetched.'],
  waiting: ['moved', 'It waits for its turn.'],
  'never-met': ['idle', 'No link to it was followed.'],
}

const thing = (value: unknown): Thing | null =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Thing) : null
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value : typeof value === 'number' ? String(value) : null
const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null)
const textsOf = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : []

/** Leads to the explanation of any URL, met or not. */
export function ExplainField({ crawl, query }: { crawl: string; query: Readonly<Record<string, string>> }) {
  const [url, setUrl] = useState('')
  const open = (): void => {
    if (url.trim() !== '') go(hrefOf(crawl, 'pages', url.trim(), query))
  }
  return (
    <div class="filter explain-field">
      <Field label="Explain a URL">
        {(control) => (
          <span class="joined">
            <input
              {...control}
              type="text"
              value={url}
              placeholder="https://…"
              autocomplete="off"
              spellcheck={false}
              onInput={(event) => setUrl(event.currentTarget.value)}
              onKeyDown={(event) => {
                if (event.key === 'Enter') open()
              }}
            />
            <button type="button" class="button" onClick={open}>
              Explain
            </button>
          </span>
        )}
      </Field>
    </div>
  )
}

export function ExplainDetail({ info, url }: { info: CrawlInfo; url: string }) {
  const answer = useAnswer('explain', { crawl: info.id, url })
  const doing = useDoing()
  const follow = async (): Promise<void> => tell((await call('trace', { crawl: info.id }, { url })).text)
  return (
    <>
      <h2 class="detail-title url">
        <UrlLink url={url} />
      </h2>
      <div class="detail-actions">
        {info.now === null ? null : (
          <button type="button" class="button small" disabled={doing.isBusy} onClick={() => void doing.run(follow)}>
            Follow it in the events
          </button>
        )}
        <button type="button" class="button small" onClick={answer.again}>
          Refresh
        </button>
      </div>
      <FormTrouble error={doing.error} known={[]} />
      <Awaited answer={answer} what="the explanation">
        {(found) => <Explained info={info} found={found} />}
      </Awaited>
    </>
  )
}

function Explained({ info, found }: { info: CrawlInfo; found: Thing }) {
  const state = textOf(found['state']) ?? 'never-met'
  const [tone, sentence] = STATES[state] ?? ['idle', '']
  const page = thing(found['page'])
  const failure = thing(found['failure'])
  const origin = thing(found['found'])
  const robots = thing(found['robots'])
  const manners = thing(found['manners'])
  const linked = thing(found['linkedFrom'])
  const refusal = textOf(found['refusal'])
  const host = textOf(found['host'])
  const told = ['url', 'host', 'state', 'found', 'page', 'failure', 'earlierVisits', 'linkedFrom', 'robots', 'refusal']
  const rest = Object.fromEntries(
    Object.entries(found).filter(([name, value]) => ![...told, 'manners'].includes(name) && value !== null),
  )
  const status = numberOf(page?.['status'])
  const reason = textOf(failure?.['reason']) ?? textOf(failure?.['code']) ?? textOf(failure?.['outcome'])
  const via = textOf(origin?.['via'])
  const title = textOf(page?.['title'])
  const size = numberOf(page?.['bytes'])
  const took = numberOf(page?.['durationMs'])
  const when = textOf(page?.['fetchedAt']) ?? textOf(failure?.['when']) ?? textOf(failure?.['at'])
  const copyOf = textOf(page?.['duplicateOf'])
  return (
    <>
      <p class="sentence">
        <Pill tone={tone}>{state}</Pill> {sentence}
      </p>
      <Facts
        rows={[
          ['Title', title === null ? null : <Shown key="title" text={title} most={2_000} />],
          ['Status', status === null ? null : <Status key="status" status={status} />],
          [
            'Reason',
            reason === null ? null : (
              <span key="reason">
                <code>{shown(reason)}</code>
                <small>{meaningOf(reason)}</small>
                <small>
                  <Shown text={textOf(failure?.['detail']) ?? ''} most={1_000} />
                </small>
              </span>
            ),
          ],
          ['Type', textOf(page?.['type']) === null ? null : shown(textOf(page?.['type']) ?? '')],
          ['Size', size === null ? null : bytes(size)],
          ['Took', took === null ? null : duration(took / 1_000)],
          ['When', when === null ? null : moment(when)],
          ['Copy of', copyOf === null ? null : <UrlLink key="copy" url={copyOf} />],
          [
            'Found',
            origin === null ? null : (
              <span key="found">
                {origin['isSeed'] === true
                  ? 'a seed'
                  : `${things(numberOf(origin['depth']) ?? 0, 'links')} from a seed`}
                {via === null ? null : (
                  <small>
                    on{' '}
                    <a class="url" href={hrefOf(info.id, 'pages', via)}>
                      <Shown text={via} />
                    </a>
                  </small>
                )}
              </span>
            ),
          ],
          [
            'Host',
            host === null ? null : (
              <a key="host" href={hrefOf(info.id, 'hosts', host)}>
                <Shown text={host} />
              </a>
            ),
          ],
          [
            'Scope',
            refusal === null ? (
              'within it'
            ) : (
              <span key="scope">
                <code>{shown(refusal)}</code>
                <small>{meaningOf(refusal)}</small>
              </span>
            ),
          ],
          [
            'robots.txt',
            robots === null ? (
              'not known'
            ) : (
              <span key="robots">
                {robots['allowed'] === false ? 'disallows it' : 'allows it'}
                <small>
                  {[
                    numberOf(robots['line']) === null ? null : `line ${String(robots['line'])}`,
                    textOf(robots['rule']),
                    textOf(robots['answer']),
                    textOf(robots['trouble']),
                  ]
                    .filter((one) => one !== null)
                    .map((one) => shown(one))
                    .join(' · ')}
                </small>
              </span>
            ),
          ],
          [
            'Rest of its host',
            manners === null || numberOf(manners['restMs']) === null ? null : (
              <span key="rest">
                {duration((numberOf(manners['restMs']) ?? 0) / 1_000)}
                {textsOf(manners['because']).map((why) => (
                  <small key={why}>{shown(why)}</small>
                ))}
              </span>
            ),
          ],
        ]}
      />
      <Links info={info} linked={linked} />
      {Object.keys(rest).length === 0 ? null : (
        <details class="raw">
          <summary>Everything else that is known</summary>
          <pre tabIndex={0}>{shownRecord(rest)}</pre>
        </details>
      )}
    </>
  )
}

function Links({ info, linked }: { info: CrawlInfo; linked: Thing | null }) {
  const pages = textsOf(linked?.['pages'])
  if (linked === null || pages.length === 0) return null
  const all = numberOf(linked['count']) ?? pages.length
  return (
    <>
      <h3>Linked from {all === 1 ? 'one page' : `${count(all)} pages`}</h3>
      <ul class="url-list">
        {pages.map((url) => (
          <li key={url}>
            <a class="url" href={hrefOf(info.id, 'pages', url)}>
              <Shown text={url} />
            </a>
          </li>
        ))}
      </ul>
      {all > pages.length ? <p class="soft">and {count(all - pages.length)} more</p> : null}
    </>
  )
}
