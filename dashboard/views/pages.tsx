// All pages, the newest first: found by host, status, type and words of the title; and all that is known of one URL beside them.

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../src/control/api.ts'
import { Shown, Status, ViewHead } from '../parts/basics.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { FilterChoice, FilterText, Filters } from '../parts/filters.tsx'
import { Split } from '../parts/split.tsx'
import { hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'
import { bytes, clock, duration, moment } from '../words/formats.ts'
import { shown } from '../words/crawled-text.ts'
import { ExplainDetail, ExplainField } from './explain.tsx'
import type { ViewProps } from './view.ts'

type Page = AnswerOf<'pages'>['items'][number]

const STATUSES = [
  ['', 'any'],
  ['200', '200 OK'],
  ['301', '301 moved'],
  ['302', '302 found'],
  ['304', '304 as it was'],
  ['403', '403 forbidden'],
  ['404', '404 not found'],
  ['410', '410 gone'],
  ['429', '429 too many'],
  ['500', '500 failed'],
  ['503', '503 unavailable'],
] as const

const TYPES = [
  ['', 'any'],
  ['text/html', 'HTML'],
  ['application/xhtml+xml', 'XHTML'],
  ['application/pdf', 'PDF'],
  ['text/css', 'CSS'],
  ['text/javascript', 'JavaScript'],
  ['application/json', 'JSON'],
  ['image/jpeg', 'JPEG'],
  ['image/png', 'PNG'],
  ['image/svg+xml', 'SVG'],
  ['text/plain', 'plain text'],
] as const

export function PagesView({ info, route }: ViewProps) {
  const [round, setRound] = useState(0)
  const crawl = info.id
  const { host = '', status = '', type = '', text = '' } = route.query
  const columns: readonly Column<Page>[] = [
    {
      name: 'page',
      label: 'Page',
      className: 'grow',
      cell: ({ url, title, duplicateOf }) => (
        <a class="row-link two" href={hrefOf(crawl, 'pages', url, route.query)}>
          <span class={title === null ? 'soft' : ''}>
            {title === null ? 'no title' : <Shown text={title} most={200} />}
            {duplicateOf === null ? null : <span class="tag">copy</span>}
          </span>
          <small class="narrow-two">
            <Shown text={url} most={300} />
          </small>
        </a>
      ),
    },
    { name: 'status', label: 'Status', className: 'w-status', cell: ({ status: code }) => <Status status={code} /> },
    {
      name: 'type',
      label: 'Type',
      className: 'w-type wide soft',
      cell: ({ type: name }) => (name === null ? '–' : shown(name, 60)),
    },
    { name: 'bytes', label: 'Size', className: 'number w-number wide', cell: ({ bytes: size }) => bytes(size) },
    {
      name: 'took',
      label: 'Took',
      className: 'number w-number wide',
      cell: ({ durationMs }) => duration(durationMs / 1_000),
    },
    {
      name: 'when',
      label: 'When',
      className: 'number w-number wide soft',
      cell: ({ fetchedAt }) => <time title={moment(fetchedAt)}>{clock(fetchedAt)}</time>,
    },
  ]
  return (
    <>
      <ViewHead title="Pages" note="The newest first.">
        <button type="button" class="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </ViewHead>
      <Filters>
        <FilterText route={route} name="text" label="Words of the title" placeholder="annual report" className="grow" />
        <FilterText route={route} name="host" label="Host" placeholder="example.org" />
        <FilterChoice route={route} name="status" label="Status" choices={STATUSES} />
        <FilterChoice route={route} name="type" label="Type" choices={TYPES} />
        <ExplainField crawl={crawl} query={route.query} />
      </Filters>
      <Split
        detailName={`URL ${route.thing ?? ''}`}
        backHref={hrefOf(crawl, 'pages', null, route.query)}
        detail={route.thing === null ? null : <ExplainDetail key={route.thing} info={info} url={route.thing} />}
      >
        <EndlessTable
          label="Pages"
          what="pages"
          question={JSON.stringify([crawl, host, status, type, text, round])}
          load={(after, signal) => call('pages', { crawl, after, host, status, type, text }, undefined, signal)}
          isGrowing={info.now !== null}
          columns={columns}
          rowHeight={48}
          narrowRowHeight={66}
          keyOf={({ at }) => at}
          isChosen={({ url }) => url === route.thing}
          empty={
            host + status + type + text === ''
              ? 'The first is there when a server has answered.'
              : 'Nothing matches all of these.'
          }
        />
      </Split>
    </>
  )
}
