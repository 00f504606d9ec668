// Broken links: what answers with an error or not at all, and who links to it.

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../src/control/api.ts'
import { Breakable, Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { FilterText, Filters } from '../parts/filters.tsx'
import { Split } from '../parts/split.tsx'
import { hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'
import { count } from '../words/formats.ts'
import { meaningOf, toneOfStatus } from '../words/meanings.ts'
import { ExplainDetail } from './explain.tsx'
import type { ViewProps } from './view.ts'

type Broken = AnswerOf<'broken'>['items'][number]

export function BrokenView({ info, route }: ViewProps) {
  const [round, setRound] = useState(0)
  const crawl = info.id
  const host = route.query['host'] ?? ''
  const columns: readonly Column<Broken>[] = [
    {
      name: 'url',
      label: 'Broken URL ← linked from',
      className: 'grow',
      cell: ({ url, linkedFrom }) => (
        <a class="row-link two" href={hrefOf(crawl, 'broken', url, route.query)}>
          <span class="narrow-two">
            <Shown text={url} most={300} />
          </span>
          <small>
            {linkedFrom.pages[0] === undefined ? (
              'a seed, or no link is known'
            ) : (
              <Shown text={`← ${linkedFrom.pages[0]}`} />
            )}
          </small>
        </a>
      ),
    },
    {
      name: 'outcome',
      label: 'Outcome',
      className: 'w-outcome',
      cell: ({ outcome }) => (
        <Pill tone={/^\d+$/.test(outcome) ? toneOfStatus(Number(outcome)) : 'bad'} title={meaningOf(outcome)}>
          <Breakable text={outcome} most={60} />
        </Pill>
      ),
    },
    {
      name: 'links',
      label: 'Links',
      className: 'number w-number wide',
      cell: ({ linkedFrom }) => count(linkedFrom.count),
    },
  ]
  return (
    <>
      <ViewHead title="Broken links" note="What answers with an error, or not at all, and who links to it.">
        <button type="button" class="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </ViewHead>
      <Filters>
        <FilterText route={route} name="host" label="Host" placeholder="www.example.org" className="grow" />
      </Filters>
      <Split
        detailName={`URL ${route.thing ?? ''}`}
        backHref={hrefOf(crawl, 'broken', null, route.query)}
        detail={route.thing === null ? null : <ExplainDetail key={route.thing} info={info} url={route.thing} />}
      >
        <EndlessTable
          label="Broken links"
          what="broken links"
          question={JSON.stringify([crawl, host, round])}
          load={(after, signal) => call('broken', { crawl, after, host }, undefined, signal)}
          isGrowing={info.now !== null}
          columns={columns}
          rowHeight={48}
          narrowRowHeight={66}
          keyOf={({ at }) => at}
          isChosen={({ url }) => url === route.thing}
          empty="Every link that was followed led somewhere."
        />
      </Split>
    </>
  )
}
