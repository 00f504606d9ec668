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
import { bytes, compact, count, duration } from '../words/formats.ts'
import { bottleneckOf, type Tone } from '../words/meanings.ts'
import { rangesOf, ShareMap, toneOfNode } from './share-map.tsx'
import { SpeedDialog } from './speed.tsx'
import type { ViewProps } from './view.ts'

type Node = AnswerOf<'nodes'>['nodes'][number]
type Agent = AnswerOf<'agents'>['agents'][number]

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
            ? 'This crawl runs on one machine. Its agents share the hosts among them.'
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
            Its {count(asked.node.shares.length)} shares go to the other nodes, made again from what the engine keeps.
            Drain it first where it still answers: that is gentler.
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

function limitText({ speed }: Agent): string {
  const parts = [
    ...(speed.ratePerSecond === null ? [] : [`${speed.ratePerSecond} requests/s`]),
    ...(speed.bytesPerSecond === null ? [] : [`${bytes(speed.bytesPerSecond)}/s`]),
  ]
  return parts.length === 0 ? 'no limit' : parts.join(', ')
}

function AgentTable({ info, agents, onDone }: { info: CrawlInfo; agents: readonly Agent[]; onDone: () => void }) {
  const [open, setOpen] = useState<Agent | null>(null)
  const mayChange = info.can.includes('set')
  return (
    <Card title="Agents" className="flush">
      <table class="plain stacked">
        <caption class="hidden">Agents</caption>
        <thead>
          <tr>
            <th scope="col">Agent</th>
            <th scope="col" class="number">
              Pages
            </th>
            <th scope="col" class="number">
              Failed
            </th>
            <th scope="col" class="number">
              Waiting
            </th>
            <th scope="col" class="number">
              Hosts
            </th>
            <th scope="col" class="number">
              Requests
            </th>
            <th scope="col">Why not more</th>
            <th scope="col">Limits</th>
            <th scope="col">
              <span class="hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {agents.map((agent) => (
            <tr key={`${agent.node ?? ''}/${agent.agent}`}>
              <th scope="row">
                Agent {agent.agent}
                {agent.node === null ? null : (
                  <small>
                    <Shown text={agent.node} most={60} />
                  </small>
                )}
              </th>
              <td class="number" data-name="pages">
                {count(agent.pages)}
              </td>
              <td class="number" data-name="failed">
                {count(agent.failed)}
              </td>
              <td class="number" data-name="waiting">
                {count(agent.waiting)}
              </td>
              <td class="number" data-name="hosts">
                {count(agent.hosts)}
              </td>
              <td class="number" data-name="requests">
                {count(agent.active)} of {count(agent.limit)}
              </td>
              <td data-name="why not more" class="soft">
                {shown(bottleneckOf(agent.bottleneck), 80)}
              </td>
              <td data-name="limits" class="soft">
                {limitText(agent)}
              </td>
              <td class="row-actions">
                {mayChange ? (
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Speed of agent ${agent.agent}`}
                    onClick={() => setOpen(agent)}
                  >
                    Speed
                  </button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {open === null ? null : (
        <SpeedDialog
          crawl={info.id}
          agent={open.agent}
          {...(open.node === null ? {} : { node: open.node })}
          speed={open.speed}
          onClose={() => {
            setOpen(null)
            onDone()
          }}
        />
      )}
    </Card>
  )
}
