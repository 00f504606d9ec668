// URLs that were given up or left out, by reason.

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../src/control/api.ts'
import { Breakable, Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { FilterChoice, FilterText, Filters } from '../parts/filters.tsx'
import { Split } from '../parts/split.tsx'
import { hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'
import { clock, count, moment } from '../words/formats.ts'
import { meaningOf } from '../words/meanings.ts'
import { ExplainDetail } from './explain.tsx'
import type { ViewProps } from './view.ts'

type Failure = AnswerOf<'failures'>['items'][number]

export function SkippedView({ info, route }: ViewProps) {
  const [round, setRound] = useState(0)
  const crawl = info.id
  const { reason = '', host = '' } = route.query
  const given = route.query['kind']
  const kind = given === 'failed' || given === 'skipped' ? given : undefined
  const counted = {
    ...(kind === 'skipped' ? {} : info.figures.failures),
    ...(kind === 'failed' ? {} : info.figures.skipped),
  }
  const reasons = Object.entries(counted)
    .filter(([, value]) => value > 0)
    .sort(([, a], [, b]) => b - a)
    .map(([name, value]) => [name, `${name} (${count(value)})`] as const)
  const columns: readonly Column<Failure>[] = [
    {
      name: 'url',
      label: 'URL',
      className: 'grow',
      cell: ({ url, detail }) => (
        <a class="row-link two" href={hrefOf(crawl, 'skipped', url, route.query)}>
          <span class="narrow-two">
            <Shown text={url} most={300} />
          </span>
          <small>
            <Shown text={detail} most={200} />
          </small>
        </a>
      ),
    },
    {
      name: 'reason',
      label: 'Reason',
      className: 'w-outcome',
      cell: ({ kind: what, reason: why }) => (
        <Pill tone={what === 'failed' ? 'bad' : 'warn'} title={meaningOf(why)}>
          <Breakable text={why} most={60} />
        </Pill>
      ),
    },
    { name: 'depth', label: 'Depth', className: 'number w-short wide', cell: ({ depth }) => count(depth) },
    {
      name: 'when',
      label: 'When',
      className: 'number w-number wide soft',
      cell: ({ when }) => <time title={moment(when)}>{clock(when)}</time>,
    },
  ]
  return (
    <>
      <ViewHead
        title="Failed and skipped"
        note={
          reason !== '' && meaningOf(reason) !== ''
            ? `${reason}: ${meaningOf(reason)}.`
            : 'URLs that were given up or left out, the newest first.'
        }
      >
        <button type="button" class="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </ViewHead>
      <Filters>
        <FilterChoice
          route={route}
          name="kind"
          label="What"
          choices={[
            ['', 'both'],
            ['failed', 'failed'],
            ['skipped', 'skipped'],
          ]}
        />
        <FilterChoice route={route} name="reason" label="Reason" choices={[['', 'any'], ...reasons]} />
        <FilterText route={route} name="host" label="Host" placeholder="www.example.org" className="grow" />
      </Filters>
      <Split
        detailName={`URL ${route.thing ?? ''}`}
        backHref={hrefOf(crawl, 'skipped', null, route.query)}
        detail={route.thing === null ? null : <ExplainDetail key={route.thing} info={info} url={route.thing} />}
      >
        <EndlessTable
          label="Failed and skipped URLs"
          what="URLs"
          question={JSON.stringify([crawl, kind, reason, host, round])}
          load={(after, signal) => call('failures', { crawl, after, kind, reason, host }, undefined, signal)}
          isGrowing={info.now !== null}
          columns={columns}
          rowHeight={48}
          narrowRowHeight={66}
          keyOf={({ at }) => at}
          isChosen={({ url }) => url === route.thing}
          empty="Nothing was given up or left out."
        />
      </Split>
    </>
  )
}
