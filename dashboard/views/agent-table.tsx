// Agents: what each has done, what stands in its way, and how fast it may be.

import { useState } from 'preact/hooks'
import type { AnswerOf, CrawlInfo } from '../../src/control/api.ts'
import { Card, Shown } from '../parts/basics.tsx'
import { shown } from '../words/crawled-text.ts'
import { bytes, count } from '../words/formats.ts'
import { bottleneckOf } from '../words/meanings.ts'
import { SpeedDialog } from './speed.tsx'

type Agent = AnswerOf<'agents'>['agents'][number]

function limitText({ speed }: Agent): string {
  const parts = [
    ...(speed.ratePerSecond === null ? [] : [`${speed.ratePerSecond} requests/s`]),
    ...(speed.bytesPerSecond === null ? [] : [`${bytes(speed.bytesPerSecond)}/s`]),
  ]
  return parts.length === 0 ? 'no limit' : parts.join(', ')
}

export function AgentTable({
  info,
  agents,
  onDone,
}: {
  info: CrawlInfo
  agents: readonly Agent[]
  onDone: () => void
}) {
  const [open, setOpen] = useState<Agent | null>(null)
  const isAtWork = info.now !== null
  const mayChange = isAtWork && info.can.includes('set')
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
                {isAtWork ? `${count(agent.active)} of ${count(agent.limit)}` : '–'}
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
