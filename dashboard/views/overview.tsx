// How the crawl stands at a glance: figures, its course, what stands in the way of more, and what became of URLs.

import { useMemo, useState } from 'preact/hooks'
import type { CrawlInfo } from '../../src/control/api.ts'
import { Awaited, Card, Facts, ViewHead } from '../parts/basics.tsx'
import { Bars, barsOf, Stack } from '../parts/bars.tsx'
import { Chart } from '../parts/chart.tsx'
import { courseOf, joinSamples } from '../parts/course.ts'
import { hrefOf } from '../route.ts'
import type { LiveCrawl } from '../talk/live.ts'
import { useStore } from '../talk/store.ts'
import { useAnswer } from '../talk/use-answer.ts'
import { shown } from '../words/crawled-text.ts'
import { bytes, compact, count, duration, moment, rate, share, things } from '../words/formats.ts'
import { answerOf, bottleneckOf, meaningOf, STATES } from '../words/meanings.ts'
import { Steering } from './steering.tsx'
import type { ViewProps } from './view.ts'

export function OverviewView({ live, info }: ViewProps) {
  return (
    <>
      <ViewHead title="Overview" note={<Sentence info={info} />}>
        <Steering info={info} />
      </ViewHead>
      <Figures info={info} />
      <Course live={live} state={info.state} isAtWork={info.now !== null} />
      <div class="grid">
        <Slow info={info} />
        <Outcomes info={info} />
      </div>
      <div class="grid three">
        <Card title="Failed" note={things(info.figures.failed, 'URLs')}>
          <Bars
            label="Failures by code"
            what="URLs"
            most={8}
            bars={barsOf(info.figures.failures).map((bar) => ({
              ...bar,
              tone: 'bad' as const,
              text: meaningOf(bar.name),
              href: hrefOf(info.id, 'skipped', null, { kind: 'failed', reason: bar.name }),
            }))}
          />
        </Card>
        <Card title="Skipped" note="met, and not fetched or kept">
          <Bars
            label="Skipped by reason"
            what="URLs"
            most={8}
            bars={barsOf(info.figures.skipped).map((bar) => ({
              ...bar,
              tone: 'warn' as const,
              text: meaningOf(bar.name),
              href: hrefOf(info.id, 'skipped', null, { kind: 'skipped', reason: bar.name }),
            }))}
          />
        </Card>
        <Card title="Refused" note="links turned away before they were counted">
          <Bars
            label="Refused by reason"
            what="links"
            most={8}
            bars={barsOf(info.figures.refused).map((bar) => ({
              ...bar,
              tone: 'idle' as const,
              text: meaningOf(bar.name),
            }))}
          />
        </Card>
      </div>
    </>
  )
}

function Sentence({ info }: { info: CrawlInfo }) {
  const { state, stoppedBecause, startedAt, agents, cluster } = info
  const why = stoppedBecause === null ? '' : `: ${meaningOf(stoppedBecause) || stoppedBecause}`
  return (
    <>
      {`${state.charAt(0).toUpperCase()}${state.slice(1)}${why === '' ? `: ${STATES[state].text}` : why}. `}
      {startedAt === null ? null : (
        <>
          Begun <span class="nowrap">{moment(startedAt)}</span>.{' '}
        </>
      )}
      {cluster === null
        ? `${things(agents, 'agents')}.`
        : `${things(cluster.nodes, 'nodes')}, ${things(agents, 'agents')}.${changeText(cluster)}`}{' '}
      <bdi>{shown(info.dir, 200)}</bdi>
    </>
  )
}

/** A change that not all shares have taken in. */
function changeText({ change = 0, sharesBehind = 0 }: NonNullable<CrawlInfo['cluster']>): string {
  if (sharesBehind === 0) return ''
  return ` ${count(sharesBehind)} ${sharesBehind === 1 ? 'share has' : 'shares have'} yet to take in change ${count(change)}.`
}

function Figures({ info }: { info: CrawlInfo }) {
  const { figures, now } = info
  const skipped = Object.values(figures.skipped).reduce((sum, one) => sum + one, 0)
  const average = figures.seconds === 0 ? 0 : figures.pages / figures.seconds
  const cells: readonly (readonly [string, string, string])[] = [
    [
      'Pages',
      count(figures.pages),
      now === null ? `${rate(average)} a second on average` : `${rate(now.pagesPerSecond)} a second now`,
    ],
    ['Waiting', count(figures.waiting), `of ${compact(figures.urlsSeen)} URLs met`],
    [
      'Bytes',
      bytes(figures.bytes),
      now === null ? `${bytes(figures.wireBytes)} over the wire` : `${bytes(now.bytesPerSecond)} a second now`,
    ],
    ['Hosts', count(figures.hosts), now === null ? 'met' : `${count(now.active)} asked at this moment`],
    ['Failed', count(figures.failed), `${share(figures.failed, figures.pages + figures.failed)} of what was asked`],
    ['Skipped', count(skipped), `${compact(Object.values(figures.refused).reduce((a, b) => a + b, 0))} links refused`],
    ['Time', duration(figures.seconds), `${duration(figures.cpuSeconds)} of processor`],
    ['Memory', bytes(now?.rssBytes ?? figures.peakRssBytes), memoryNote(info)],
  ]
  return (
    <dl class="figures">
      {cells.map(([name, value, note]) => (
        <div key={name} class={`card${name === 'Failed' && figures.failed > 0 ? ' tone-bad' : ''}`}>
          <dt>{name}</dt>
          <dd class="figure">{value}</dd>
          <dd class="soft">{note}</dd>
        </div>
      ))}
    </dl>
  )
}

/** What processes took at most is known of each, not of all nodes at one moment. */
function memoryNote({ cluster, now, figures }: CrawlInfo): string {
  if (cluster !== null) return now === null ? 'at most, of one node' : 'of all nodes'
  return now === null ? 'at most' : `${bytes(figures.peakRssBytes)} at most`
}

const SPANS = [
  [null, 'whole crawl'],
  [3_600, 'last hour'],
  [300, 'last 5 minutes'],
] as const

function Course({ live, state, isAtWork }: { live: LiveCrawl; state: string; isAtWork: boolean }) {
  // Asked for again when a run begins or ends, and now and then: what came since is live.
  const answer = useAnswer('timeline', { crawl: live.id }, state === 'running' ? 300_000 : null)
  const samples = useStore(live.samples)
  const [span, setSpan] = useState<number | null>(null)
  const course = useMemo(
    () => courseOf(joinSamples(answer.data?.samples ?? [], samples), span),
    [answer.data, samples, span],
  )
  const curves = useMemo(
    () => ({
      speed: [{ name: 'pages a second', tone: 'accent', values: course.pagesPerSecond }],
      queue: [{ name: 'waiting', tone: 'moved', values: course.waiting }],
      pages: [{ name: 'pages', tone: 'good', values: course.pages }],
      bytes: [{ name: 'bytes a second', tone: 'silent', values: course.bytesPerSecond }],
      errors: [
        { name: 'failed', tone: 'bad', values: course.failedPerSecond },
        { name: 'skipped', tone: 'warn', values: course.skippedPerSecond },
      ],
    }),
    [course],
  )
  return (
    <Card
      title="Course"
      aside={
        <div class="segments" role="group" aria-label="Time shown">
          {SPANS.map(([seconds, text]) => (
            <button
              key={text}
              type="button"
              aria-pressed={span === seconds}
              class="segment"
              onClick={() => setSpan(seconds)}
            >
              {text}
            </button>
          ))}
        </div>
      }
    >
      <Awaited answer={answer} what="its course">
        {() =>
          course.times.length < 2 ? (
            <p class="soft nothing">
              {isAtWork ? 'It is drawn in a moment, when there is more of it.' : 'The crawl was over too soon for one.'}
            </p>
          ) : (
            <div class="charts">
              <Chart title="Pages a second" times={course.times} curves={curves.speed} format={rate} />
              <Chart title="Pages" times={course.times} curves={curves.pages} format={compact} unit="whole" />
              <Chart title="Waiting URLs" times={course.times} curves={curves.queue} format={compact} unit="whole" />
              <Chart title="Bytes a second" times={course.times} curves={curves.bytes} format={bytes} unit="bytes" />
              <Chart title="Failed and skipped a second" times={course.times} curves={curves.errors} format={rate} />
            </div>
          )
        }
      </Awaited>
    </Card>
  )
}

function Slow({ info }: { info: CrawlInfo }) {
  const { now } = info
  const agents = useAnswer('agents', now === null ? null : { crawl: info.id }, 10_000)
  if (now === null)
    return (
      <Card title="What is slow, and why">
        <p class="soft nothing">Told while the crawl runs.</p>
      </Card>
    )
  return (
    <Card title="What is slow, and why">
      <p class="sentence">{shown(now.slow)}</p>
      <Stack
        label="Hosts by state"
        parts={[
          { name: 'being asked', value: now.active, tone: 'good' },
          { name: 'ready', value: now.hostsReady, tone: 'accent' },
          { name: 'resting', value: now.hostsResting, tone: 'idle' },
        ]}
      />
      <Facts
        rows={[
          ['Processor', share(now.cpuShare, 1)],
          ['Memory', bytes(now.rssBytes)],
          ...(agents.data?.agents ?? [])
            .slice(0, 6)
            .map(
              ({ agent, active, limit, bottleneck }) =>
                [
                  `Agent ${agent}`,
                  `${count(active)} of ${count(limit)} requests: ${shown(bottleneckOf(bottleneck), 120)}`,
                ] as const,
            ),
        ]}
      />
    </Card>
  )
}

const ANSWER_ORDER = ['2xx', 'unchanged', '3xx', '4xx', '5xx', 'other']

function Outcomes({ info }: { info: CrawlInfo }) {
  const { answers } = info.figures
  const names = [...ANSWER_ORDER, ...Object.keys(answers).filter((name) => !ANSWER_ORDER.includes(name))]
  return (
    <Card title="Answers" note="pages by the status they came with">
      <Stack
        label="Pages by class of status"
        parts={names.map((name) => ({ name, value: answers[name] ?? 0, ...answerOf(name) }))}
      />
    </Card>
  )
}
