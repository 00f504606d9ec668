// The files of the archive, and where they were sent.

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../src/control/api.ts'
import { Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { call } from '../talk/client.ts'
import { bytes, moment } from '../words/formats.ts'
import type { ViewProps } from './view.ts'

type ArchiveFile = AnswerOf<'archive'>['items'][number]

const COLUMNS: readonly Column<ArchiveFile>[] = [
  {
    name: 'name',
    label: 'File',
    className: 'grow',
    cell: ({ name, shipped }) => (
      <span class="row-link two">
        <span class="mono narrow-two">
          <Shown text={name.replace(/^archive\//, '')} />
        </span>
        {shipped === null ? null : (
          <small>
            <Shown text={`sent to ${shipped}`} />
          </small>
        )}
      </span>
    ),
  },
  {
    name: 'state',
    label: 'State',
    className: 'w-status',
    cell: ({ isOpen, shipped }) =>
      isOpen ? (
        <Pill tone="accent" title="being written">
          open
        </Pill>
      ) : shipped === null ? (
        <Pill tone="good" title="finished, and here">
          whole
        </Pill>
      ) : (
        <Pill tone="moved">sent</Pill>
      ),
  },
  { name: 'bytes', label: 'Size', className: 'number w-number', cell: ({ bytes: size }) => bytes(size) },
  {
    name: 'modified',
    label: 'Last written',
    className: 'number w-moment wide soft',
    cell: ({ modifiedAt }) => moment(modifiedAt),
  },
]

export function ArchiveView({ info }: ViewProps) {
  const [round, setRound] = useState(0)
  const crawl = info.id
  return (
    <>
      <ViewHead title="Archive files" note="WARC files and their index, as other tools read them.">
        <button type="button" class="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </ViewHead>
      <EndlessTable
        label="Archive files"
        what="files"
        question={JSON.stringify([crawl, round])}
        load={(after, signal) => call('archive', { crawl, after }, undefined, signal)}
        isGrowing={info.now !== null}
        columns={COLUMNS}
        rowHeight={48}
        narrowRowHeight={66}
        keyOf={({ name }) => name}
        empty="The first file is begun with the first page, unless --warc off."
      />
    </>
  )
}
