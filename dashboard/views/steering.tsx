// What can be done to a crawl as a whole: pause, resume, start, stop, checkpoint, more seeds, another speed.

import { useState } from 'preact/hooks'
import { formatDuration } from '../../src/base/units.ts'
import type { CrawlInfo } from '../../src/control/api.ts'
import { Facts } from '../parts/basics.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { errorAt, FormTrouble, LinesField, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { call } from '../talk/client.ts'
import { bytes, count, duration, things } from '../words/formats.ts'
import { limitOf } from './limits.ts'
import { SpeedDialog } from './speed.tsx'
import { shown } from '../words/crawled-text.ts'

type Open = 'start' | 'stop' | 'checkpoint' | 'seeds' | 'speed' | null

export function Steering({ info }: { info: CrawlInfo }) {
  const [open, setOpen] = useState<Open>(null)
  const doing = useDoing()
  const can = new Set(info.can)
  const act = (name: 'pause' | 'resume'): void =>
    void doing.run(async () => tell((await call(name, { crawl: info.id }, {})).text))
  const close = (): void => setOpen(null)
  const isPaused = info.state === 'paused'
  const isAtRest = info.state === 'stopped' || info.state === 'finished'
  // Limits of the last run hold again: whoever starts it sees them first.
  const hasLimits = info.limits !== undefined && (info.limits.maxPages ?? info.limits.maxTimeMs) !== null
  const start = (): void =>
    hasLimits ? setOpen('start') : void doing.run(async () => tell((await call('start', { crawl: info.id }, {})).text))
  return (
    <>
      {can.has('start') && isAtRest ? (
        <button type="button" class="button main" disabled={doing.isBusy} onClick={start}>
          Start
        </button>
      ) : null}
      {can.has('pause') && !isPaused && !isAtRest ? (
        <button type="button" class="button main" disabled={doing.isBusy} onClick={() => act('pause')}>
          Pause
        </button>
      ) : null}
      {can.has('resume') && isPaused ? (
        <button type="button" class="button main" disabled={doing.isBusy} onClick={() => act('resume')}>
          Resume
        </button>
      ) : null}
      {can.has('stop') && !isAtRest ? (
        <button type="button" class="button" onClick={() => setOpen('stop')}>
          Stop
        </button>
      ) : null}
      {can.has('set') && !isAtRest ? (
        <button type="button" class="button" onClick={() => setOpen('speed')}>
          Speed
        </button>
      ) : null}
      {can.has('seed') ? (
        <button type="button" class="button" onClick={() => setOpen('seeds')}>
          Add seeds
        </button>
      ) : null}
      {can.has('checkpoint') ? (
        <button type="button" class="button" onClick={() => setOpen('checkpoint')}>
          Checkpoint
        </button>
      ) : null}
      {doing.error === null ? null : (
        <Dialog title="That did not work" onClose={doing.forget}>
          <FormTrouble error={doing.error} known={[]} />
        </Dialog>
      )}
      {open === 'start' ? <StartDialog info={info} onClose={close} /> : null}
      {open === 'stop' ? <StopDialog info={info} onClose={close} /> : null}
      {open === 'checkpoint' ? <CheckpointDialog info={info} onClose={close} /> : null}
      {open === 'seeds' ? <SeedsDialog info={info} onClose={close} /> : null}
      {open === 'speed' ? <SpeedDialog crawl={info.id} speed={info.limits} onClose={close} /> : null}
    </>
  )
}

function StartDialog({ info, onClose }: { info: CrawlInfo; onClose: () => void }) {
  const { maxPages = null, maxTimeMs = null } = info.limits ?? {}
  const [pages, setPages] = useState(maxPages === null ? '' : count(maxPages))
  const [time, setTime] = useState(maxTimeMs === null ? '' : formatDuration(maxTimeMs))
  const doing = useDoing()
  const fields = doing.error?.fields ?? []
  const start = async (): Promise<void> => {
    const agent = { maxPages: limitOf(pages) ?? null, maxTime: time.trim() === '' ? null : time.trim() }
    tell((await call('start', { crawl: info.id }, { options: { agent } })).text)
    onClose()
  }
  return (
    <Dialog title="Start this crawl" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(start)
        }}
      >
        <FormTrouble error={doing.error} known={['options.agent.maxPages', 'options.agent.maxTime']} />
        <p class="soft">
          It goes on where it stopped. Limits count from its beginning: it has {things(info.figures.pages, 'pages')} and
          has worked for {duration(info.figures.seconds)}.
        </p>
        <div class="field-row">
          <TextField
            label="Pages at most"
            placeholder="no limit"
            value={pages}
            onValue={setPages}
            error={errorAt(fields, 'options.agent.maxPages')}
          />
          <TextField
            label="Time at most"
            placeholder="no limit"
            value={time}
            onValue={setTime}
            error={errorAt(fields, 'options.agent.maxTime')}
          />
        </div>
        <div class="form-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={doing.isBusy}>
            {doing.isBusy ? 'Starting …' : 'Start'}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function StopDialog({ info, onClose }: { info: CrawlInfo; onClose: () => void }) {
  const doing = useDoing()
  const stop = async (): Promise<void> => {
    tell((await call('stop', { crawl: info.id }, {})).text)
    onClose()
  }
  return (
    <Dialog title="Stop this crawl?" onClose={onClose}>
      <FormTrouble error={doing.error} known={[]} />
      <p>
        What is under way ends, the books are closed, and its process exits. {count(info.figures.waiting)} URLs keep
        waiting: it goes on from here whenever it is started again.
      </p>
      <div class="form-actions">
        <button type="button" class="button" onClick={onClose}>
          Keep it running
        </button>
        <button type="button" class="button danger" disabled={doing.isBusy} onClick={() => void doing.run(stop)}>
          Stop
        </button>
      </div>
    </Dialog>
  )
}

function CheckpointDialog({ info, onClose }: { info: CrawlInfo; onClose: () => void }) {
  const [to, setTo] = useState('')
  const [made, setMade] = useState<{ to: string; bytes: number; files: number } | null>(null)
  const doing = useDoing()
  const make = async (): Promise<void> =>
    setMade(await call('checkpoint', { crawl: info.id }, to.trim() === '' ? {} : { to: to.trim() }))
  return (
    <Dialog title="Checkpoint" onClose={onClose}>
      {made === null ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            void doing.run(make)
          }}
        >
          <FormTrouble error={doing.error} known={['to']} />
          <p>A consistent copy of the crawl’s state, to start from later. The crawl goes on meanwhile.</p>
          <TextField
            label="Directory"
            placeholder="a new one beside the crawl"
            value={to}
            onValue={setTo}
            error={errorAt(doing.error?.fields ?? [], 'to')}
          />
          <div class="form-actions">
            <button type="button" class="button" onClick={onClose}>
              Cancel
            </button>
            <button type="submit" class="button main" disabled={doing.isBusy}>
              {doing.isBusy ? 'Copying …' : 'Make it'}
            </button>
          </div>
        </form>
      ) : (
        <div role="status">
          <p>The checkpoint is made.</p>
          <Facts
            rows={[
              ['Directory', <code key="to">{shown(made.to, 1_000)}</code>],
              ['Size', `${bytes(made.bytes)} in ${things(made.files, 'files')}`],
            ]}
          />
        </div>
      )}
    </Dialog>
  )
}

function SeedsDialog({ info, onClose }: { info: CrawlInfo; onClose: () => void }) {
  const [seeds, setSeeds] = useState('')
  const [problems, setProblems] = useState<readonly { where: string; what: string }[]>([])
  const doing = useDoing()
  const add = async (): Promise<void> => {
    const list = seeds.split(/\s+/).filter((seed) => seed !== '')
    const answer = await call('addSeeds', { crawl: info.id }, { seeds: list })
    tell(`${things(answer.added, 'seeds')} added, ${count(answer.known)} known before.`)
    setProblems(answer.problems)
    if (answer.problems.length === 0) onClose()
  }
  return (
    <Dialog title="Add seeds" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(add)
        }}
      >
        <FormTrouble error={doing.error} known={['seeds']} />
        <LinesField
          label="Seeds"
          hint="URLs, one a line; up to 10,000. The scope grows by them."
          placeholder="https://example.org/"
          rows={6}
          value={seeds}
          onValue={setSeeds}
          error={
            errorAt(doing.error?.fields ?? [], 'seeds') ??
            (problems.length === 0 ? undefined : problems.map(({ where, what }) => `${where}: ${what}`).join('; '))
          }
        />
        <div class="form-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={doing.isBusy}>
            Add
          </button>
        </div>
      </form>
    </Dialog>
  )
}
