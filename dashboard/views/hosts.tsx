// All hosts: what each gave, what it has waiting, whether it rests. One of them closer, beside the list.

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../src/control/api.ts'
import { Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { FilterText, filtered, Filters } from '../parts/filters.tsx'
import { Split } from '../parts/split.tsx'
import { go, hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'
import { bytes, count, duration, moment } from '../words/formats.ts'
import { HOST_STATES } from '../words/meanings.ts'
import { HostDetail } from './host-detail.tsx'
import type { ViewProps } from './view.ts'

type Host = AnswerOf<'hosts'>['items'][number]
const SORTS = ['pages', 'errors', 'bytes', 'waiting', 'host'] as const
type Sort = (typeof SORTS)[number]

export function HostsView({ info, route }: ViewProps) {
  const [round, setRound] = useState(0)
  const given = route.query['sort'] as Sort | undefined
  const sort: Sort = given !== undefined && SORTS.includes(given) ? given : 'pages'
  const text = route.query['text'] ?? ''
  const crawl = info.id
  const nowMs = Date.now()
  const columns: readonly Column<Host>[] = [
    {
      name: 'host',
      label: 'Host',
      className: 'grow',
      sort: 'host',
      cell: ({ host }) => (
        <a class="row-link two" href={hrefOf(crawl, 'hosts', host, route.query)}>
          <span class="narrow-two">
            <Shown text={host} />
          </span>
        </a>
      ),
    },
    {
      name: 'state',
      label: 'State',
      className: 'w-state',
      cell: ({ state, restUntil }) =>
        state === null ? (
          <span class="soft">–</span>
        ) : (
          <Pill
            tone={HOST_STATES[state].tone}
            title={restUntil === null ? HOST_STATES[state].text : `until ${moment(restUntil)}`}
          >
            {state === 'resting' && restUntil !== null && Date.parse(restUntil) > nowMs
              ? `rests ${duration(Math.ceil((Date.parse(restUntil) - nowMs) / 1_000))}`
              : HOST_STATES[state].name}
          </Pill>
        ),
    },
    { name: 'pages', label: 'Pages', className: 'number w-number', sort: 'pages', cell: ({ pages }) => count(pages) },
    {
      name: 'errors',
      label: 'Errors',
      className: 'number w-number wide',
      sort: 'errors',
      cell: ({ errors }) => <span class={errors > 0 ? 'bad' : 'soft'}>{count(errors)}</span>,
    },
    {
      name: 'waiting',
      label: 'Waiting',
      className: 'number w-number wide',
      sort: 'waiting',
      cell: ({ waiting }) => (waiting === null ? '–' : count(waiting)),
    },
    {
      name: 'bytes',
      label: 'Bytes',
      className: 'number w-number wide',
      sort: 'bytes',
      cell: ({ bytes: size }) => bytes(size),
    },
  ]
  return (
    <>
      <ViewHead title="Hosts" note="What each gave, what it has waiting, and whether it rests.">
        <button type="button" class="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </ViewHead>
      <Filters>
        <FilterText route={route} name="text" label="Name contains" placeholder="example.org" className="grow" />
      </Filters>
      <Split
        detailName={`Host ${route.thing ?? ''}`}
        backHref={hrefOf(crawl, 'hosts', null, route.query)}
        detail={route.thing === null ? null : <HostDetail key={route.thing} info={info} host={route.thing} />}
      >
        <EndlessTable
          label="Hosts"
          what="hosts"
          question={JSON.stringify([crawl, sort, text, round])}
          load={(after, signal) => call('hosts', { crawl, after, sort, text }, undefined, signal)}
          isGrowing={info.now !== null}
          columns={columns}
          rowHeight={36}
          narrowRowHeight={48}
          keyOf={({ host }) => host}
          isChosen={({ host }) => host === route.thing}
          sort={sort}
          onSort={(by) => go(filtered(route, { sort: by }), 'replace')}
          empty={text === '' ? 'The first is met with the first seed.' : 'None has this in its name.'}
        />
      </Split>
    </>
  )
}
