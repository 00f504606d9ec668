// How fast: of the whole crawl, of one node, or of one agent. Takes effect at once.

import { useState } from 'preact/hooks'
import { Dialog } from '../parts/dialog.tsx'
import { errorAt, FormTrouble, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { call } from '../talk/client.ts'

interface Speed {
  readonly connections: number | null
  readonly ratePerSecond: number | null
  readonly bytesPerSecond: number | null
}

const KIB = 1_024

export function SpeedDialog({
  crawl,
  agent,
  node,
  speed,
  onClose,
}: {
  crawl: string
  agent?: number
  node?: string
  /** As it is; undefined where that is not known. */
  speed?: Speed | undefined
  onClose: () => void
}) {
  const written = (value: number | null | undefined, by = 1): string =>
    value === null || value === undefined ? '' : String(Math.round((100 * value) / by) / 100)
  const [connections, setConnections] = useState(written(speed?.connections))
  const [perSecond, setPerSecond] = useState(written(speed?.ratePerSecond))
  const [kibPerSecond, setKibPerSecond] = useState(written(speed?.bytesPerSecond, KIB))
  const doing = useDoing()
  const fields = doing.error?.fields ?? []
  const whose = agent !== undefined ? `agent ${agent}` : node !== undefined ? `node ${node}` : 'the whole crawl'

  const set = async (): Promise<void> => {
    const { text } = await call(
      'speed',
      { crawl },
      {
        ...(agent === undefined ? {} : { agent }),
        ...(node === undefined ? {} : { node }),
        ...(connections.trim() === '' ? {} : { connections: Number(connections) }),
        ratePerSecond: perSecond.trim() === '' ? null : Number(perSecond),
        bytesPerSecond: kibPerSecond.trim() === '' ? null : Number(kibPerSecond) * KIB,
      },
    )
    tell(text)
    onClose()
  }

  return (
    <Dialog title={`Speed of ${whose}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(set)
        }}
      >
        <FormTrouble error={doing.error} known={['connections', 'ratePerSecond', 'bytesPerSecond']} />
        <p class="soft">
          Takes effect at once, and holds until it is changed. No host is asked faster than its rest allows, whatever
          stands here.
        </p>
        <TextField
          label="Hosts asked at the same time"
          kind="number"
          placeholder="as it is"
          value={connections}
          onValue={setConnections}
          error={errorAt(fields, 'connections')}
        />
        <TextField
          label="Requests per second at most"
          kind="number"
          placeholder="no limit"
          value={perSecond}
          onValue={setPerSecond}
          error={errorAt(fields, 'ratePerSecond')}
        />
        <TextField
          label="KiB per second at most"
          kind="number"
          placeholder="no limit"
          value={kibPerSecond}
          onValue={setKibPerSecond}
          error={errorAt(fields, 'bytesPerSecond')}
        />
        <div class="form-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={doing.isBusy}>
            Set
          </button>
        </div>
      </form>
    </Dialog>
  )
}
