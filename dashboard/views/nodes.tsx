// Who does the work: nodes with the shares they hold, and agents with their speed.

import { useState } from 'preact/hooks'
import type { AnswerOf, CrawlInfo } from '../../src/control/api.ts'
import { Awaited, Card, Empty, Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { errorAt, FormTrouble, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { call } from '../talk/client.ts'
import { useAnswer } from '../talk/use-answer.ts'
import { shown } from '../words/crawled-text.ts'
import { bytes, compact, count, duration, things } from '../words/formats.ts'
import type { Tone } from '../words/meanings.ts'
import { AgentTable } from './agent-table.tsx'
import { rangesOf, ShareMap, toneOfNode } from './share-map.tsx'
import { SpeedDialog } from './speed.tsx'
import type { ViewProps } from './view.ts'

type Node = AnswerOf<'nodes'>['nodes'][number]

const STATES: Readonly<Record<Node['state'], Tone>> = {
  working: 'good',
  draining: 'warn',
  drained: 'idle',
  silent: 'bad',
  gone: 'idle',
}

export function NodesView({ info }: ViewProps) {
  const nodes = useAnswer('nodes', info.cluster === null ? null : { crawl: info.id }, 2_000)
  const agents = useAnswer('agents', { crawl: info.id }, 2_000)
  return (
    <>
      <ViewHead
        title="Nodes and agents"
        note={
          info.cluster === null
            ? 'A crawl of one machine. Its agents share the hosts among them.'
            : `The cluster ${shown(info.cluster.crawl, 60)}. Hosts belong to shares, and shares move between nodes.`
        }
      />
      {info.cluster === null ? null : (
        <Awaited answer={nodes} what="the nodes">
          {({ shares, nodes: all }) => (
            <>
              <Card title="Shares" note={`${count(shares)} of them, and who holds each`}>
                <ShareMap shares={shares} nodes={all} />
              </Card>
              <NodeTable info={info} nodes={all} onDone={nodes.again} />
            </>
          )}
        </Awaited>
      )}
      <Awaited answer={agents} what="the agents">
        {({ agents: all }) =>
          all.length === 0 ? (
            <Empty title="No agents at work">They are there while the crawl runs.</Empty>
          ) : (
            <AgentTable info={info} agents={all} onDone={agents.again} />
          )
        }
      </Awaited>
    </>
  )
}

type Asked = { readonly node: Node; readonly what: 'weight' | 'speed' | 'remove' } | null

function NodeTable({ info, nodes, onDone }: { info: CrawlInfo; nodes: readonly Node[]; onDone: () => void }) {
  const [asked, setAsked] = useState<Asked>(null)
  const doing = useDoing()
  const mayChange = info.can.includes('nodes')
  const act = (node: string, action: 'drain' | 'resume' | 'remove'): Promise<boolean> =>
    doing.run(async () => {
      tell((await call('nodeAction', { crawl: info.id, node, action }, {})).text)
      onDone()
    })
  const close = (): void => setAsked(null)
  return (
    <Card title="Nodes" className="flush">
      <FormTrouble error={doing.error} known={[]} />
      <table class="plain stacked">
        <caption class="hidden">Nodes</caption>
        <thead>
          <tr>
            <th scope="col">Node</th>
            <th scope="col">State</th>
            <th scope="col">Shares</th>
            <th scope="col" class="number">
              Weight
            </th>
            <th scope="col" class="number">
              Pages
            </th>
            <th scope="col" class="number">
              Waiting
            </th>
            <th scope="col" class="number">
              Memory
            </th>
            <th scope="col" class="number">
              Last heard
            </th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {nodes.map((node, at) => (
            <tr key={node.node}>
              <th scope="row">
                <i class={`swatch ${toneOfNode(at)}`} aria-hidden="true" />
                <Shown text={node.node} most={60} />
                <small>
                  <Shown text={`${node.host}, ${node.version}`} most={80} />
                </small>
              </th>
              <td>
                <Pill tone={STATES[node.state]}>{node.state}</Pill>
              </td>
              <td data-name="shares">
                {count(node.shares.length)} <small class="soft">{rangesOf(node.shares)}</small>
              </td>
              <td class="number" data-name="weight">
                {node.weight}
              </td>
              <td class="number" data-name="pages">
                {compact(node.pages)}
              </td>
              <td class="number" data-name="waiting">
                {compact(node.waiting)}
              </td>
              <td class="number" data-name="memory">
                {bytes(node.rssBytes)}
              </td>
              <td class="number soft" data-name="last heard">
                {node.lastBeatMs === null ? '–' : `${duration(node.lastBeatMs / 1_000)} ago`}
              </td>
              <td class="row-actions">
                {!mayChange ? null : (
                  <>
                    {node.state === 'working' || node.state === 'silent' ? (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`Drain ${shown(node.node, 60)}`}
                        disabled={doing.isBusy}
                        onClick={() => void act(node.node, 'drain')}
                      >
                        Drain
                      </button>
                    ) : node.state === 'gone' ? null : (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`Resume ${shown(node.node, 60)}`}
                        disabled={doing.isBusy}
                        onClick={() => void act(node.node, 'resume')}
                      >
                        Resume
                      </button>
                    )}
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Weight of ${shown(node.node, 60)}`}
                      onClick={() => setAsked({ node, what: 'weight' })}
                    >
                      Weight
                    </button>
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Speed of ${shown(node.node, 60)}`}
                      onClick={() => setAsked({ node, what: 'speed' })}
                    >
                      Speed
                    </button>
                    <button
                      type="button"
                      class="button small"
                      aria-label={`Remove ${shown(node.node, 60)}`}
                      onClick={() => setAsked({ node, what: 'remove' })}
                    >
                      Remove
                    </button>
                  </>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {asked?.what === 'weight' ? (
        <WeightDialog info={info} node={asked.node} onClose={close} onDone={onDone} />
      ) : asked?.what === 'speed' ? (
        <SpeedDialog crawl={info.id} node={asked.node.node} onClose={close} />
      ) : asked?.what === 'remove' ? (
        <Dialog title={`Remove ${shown(asked.node.node, 60)}?`} onClose={close}>
          <p>
            Its {things(asked.node.shares.length, 'shares')} {asked.node.shares.length === 1 ? 'goes' : 'go'} to the
            other nodes, made again from what the engine keeps. Drain it first where it still answers: that is gentler.
          </p>
          <div class="form-actions">
            <button type="button" class="button" onClick={close}>
              Keep it
            </button>
            <button
              type="button"
              class="button danger"
              disabled={doing.isBusy}
              onClick={() => void act(asked.node.node, 'remove').then(close)}
            >
              Remove
            </button>
          </div>
        </Dialog>
      ) : null}
    </Card>
  )
}

function WeightDialog({
  info,
  node,
  onClose,
  onDone,
}: {
  info: CrawlInfo
  node: Node
  onClose: () => void
  onDone: () => void
}) {
  const [weight, setWeight] = useState(String(node.weight))
  const doing = useDoing()
  const set = async (): Promise<void> => {
    tell((await call('nodeWeight', { crawl: info.id, node: node.node }, { weight: Number(weight) })).text)
    onDone()
    onClose()
  }
  return (
    <Dialog title={`Weight of ${shown(node.node, 60)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(set)
        }}
      >
        <FormTrouble error={doing.error} known={['weight']} />
        <TextField
          label="Weight"
          kind="number"
          hint="A node of weight 2 holds twice as many shares as one of weight 1. Shares move at once."
          value={weight}
          onValue={setWeight}
          error={errorAt(doing.error?.fields ?? [], 'weight')}
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
