// What happens, as it happens, above what happened before.

import { useState } from 'preact/hooks'
import type { CrawlEvent } from '../../src/control/api.ts'
import { Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { call } from '../talk/client.ts'
import { useStore } from '../talk/store.ts'
import { shown } from '../words/crawled-text.ts'
import { clock, count, moment } from '../words/formats.ts'
import type { Tone } from '../words/meanings.ts'
import type { ViewProps } from './view.ts'

const TONES: Readonly<Record<string, Tone>> = {
  crawl: 'accent',
  agent: 'good',
  node: 'good',
  share: 'moved',
  change: 'silent',
  warning: 'warn',
  fault: 'bad',
  trace: 'silent',
}

const COLUMNS: readonly Column<CrawlEvent>[] = [
  {
    name: 'at',
    label: 'When',
    className: 'w-time soft',
    cell: ({ at }) => (
      <time title={moment(at)} dateTime={at}>
        {clock(at)}
      </time>
    ),
  },
  {
    name: 'kind',
    label: 'Kind',
    className: 'w-kind wide',
    cell: ({ kind }) => <Pill tone={TONES[kind] ?? 'idle'}>{shown(kind, 30)}</Pill>,
  },
  {
    name: 'text',
    label: 'What',
    className: 'grow',
    cell: ({ text }) => (
      <span class="two-lines" title={shown(text, 2_000)}>
        <Shown text={text} />
      </span>
    ),
  },
]

export function EventsView({ live, info }: ViewProps) {
  const news = useStore(live.events)
  const connection = useStore(live.connection)
  const [round, setRound] = useState(0)
  // News that came since the list was loaded stand above it, until it is loaded anew.
  const [since, setSince] = useState(() => news[0]?.number ?? -1)
  const fresh = news.filter(({ number }) => number > since)
  const crawl = info.id
  return (
    <>
      <ViewHead
        title="Events"
        note={
          connection === 'live'
            ? 'What happens, as it happens.'
            : 'What happened. New events come when the connection is back.'
        }
      >
        <button
          type="button"
          class="button"
          onClick={() => {
            setSince(news[0]?.number ?? -1)
            setRound(round + 1)
          }}
        >
          {fresh.length === 0 ? 'Refresh' : `Put ${count(fresh.length)} new in order`}
        </button>
      </ViewHead>
      <section class="fresh" aria-label="New events" aria-live="polite" aria-relevant="additions">
        <ol>
          {fresh.slice(0, 8).map(({ number, at, kind, text }) => (
            <li key={number}>
              <time class="soft" dateTime={at}>
                {clock(at)}
              </time>
              <Pill tone={TONES[kind] ?? 'idle'}>{shown(kind, 30)}</Pill>
              <span>
                <Shown text={text} />
              </span>
            </li>
          ))}
        </ol>
      </section>
      <EndlessTable
        label="Events"
        what="events"
        question={JSON.stringify([crawl, round])}
        load={(after, signal) => call('events', { crawl, after }, undefined, signal)}
        isGrowing={info.now !== null}
        columns={COLUMNS}
        rowHeight={48}
        keyOf={({ number }) => String(number)}
        empty="Nothing worth telling has happened."
      />
    </>
  )
}
