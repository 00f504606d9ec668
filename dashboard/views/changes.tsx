// Who changed what, and when.

import { useState } from 'preact/hooks'
import type { AnswerOf } from '../../src/control/api.ts'
import { Shown, ViewHead } from '../parts/basics.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { type Column, EndlessTable } from '../parts/endless-table.tsx'
import { call } from '../talk/client.ts'
import { shown, shownRecord } from '../words/crawled-text.ts'
import { moment } from '../words/formats.ts'
import type { ViewProps } from './view.ts'

type Change = AnswerOf<'changes'>['items'][number]

export function ChangesView({ info }: ViewProps) {
  const [open, setOpen] = useState<Change | null>(null)
  const [round, setRound] = useState(0)
  const crawl = info.id
  const columns: readonly Column<Change>[] = [
    { name: 'at', label: 'When', className: 'w-moment soft', cell: ({ at }) => moment(at) },
    { name: 'who', label: 'Who', className: 'w-kind wide', cell: ({ who }) => <Shown text={who} most={80} /> },
    {
      name: 'what',
      label: 'What',
      className: 'grow',
      cell: (change) => (
        <button type="button" class="row-link link" onClick={() => setOpen(change)}>
          <Shown text={change.what} />
          <span class="soft"> {detailText(change.detail)}</span>
        </button>
      ),
    },
  ]
  return (
    <>
      <ViewHead title="Changes" note="Who changed what, the newest first.">
        <button type="button" class="button" onClick={() => setRound(round + 1)}>
          Refresh
        </button>
      </ViewHead>
      <EndlessTable
        label="Changes"
        what="changes"
        question={JSON.stringify([crawl, round])}
        load={(after, signal) => call('changes', { crawl, after }, undefined, signal)}
        isGrowing={info.now !== null}
        columns={columns}
        rowHeight={36}
        keyOf={({ number }) => String(number)}
        empty="It runs as it was begun."
      />
      {open === null ? null : (
        <Dialog title={shown(open.what, 200)} onClose={() => setOpen(null)}>
          <p class="soft">
            {shown(open.who, 200)}, {moment(open.at)}
          </p>
          <pre tabIndex={0}>{shownRecord(open.detail)}</pre>
        </Dialog>
      )}
    </>
  )
}

/** A pause or a start has nothing to tell. */
function detailText(detail: Change['detail']): string {
  const text = JSON.stringify(detail)
  return text === '{}' ? '' : shown(text, 200)
}
