// All crawls that the server knows, and the form that begins one. Where there is one only, one is led to it.

import { useEffect, useState } from 'preact/hooks'
import type { CrawlInfo } from '../../src/control/api.ts'
import { Awaited, Empty, StatePill, ViewHead } from '../parts/basics.tsx'
import { go, hrefOf, type Route } from '../route.ts'
import { useStore } from '../talk/store.ts'
import { token } from '../talk/session.ts'
import { useAnswer } from '../talk/use-answer.ts'
import { bytes, count, moment, rate } from '../words/formats.ts'
import { shown } from '../words/crawled-text.ts'
import { BeginDialog } from './begin.tsx'

export function CrawlsView({ route }: { route: Route }) {
  // Another token: another question.
  useStore(token)
  const answer = useAnswer('crawls', {}, 5_000)
  const [isBeginning, setBeginning] = useState(false)
  const [only, ...others] = answer.data?.crawls ?? []
  const leadTo = only !== undefined && others.length === 0 && route.query['all'] === undefined ? only.id : null
  useEffect(() => {
    if (leadTo !== null) go(hrefOf(leadTo), 'replace')
  }, [leadTo])

  return (
    <>
      <ViewHead title="Crawls" note="Every crawl that this server knows.">
        <button type="button" class="button main" onClick={() => setBeginning(true)}>
          Begin a crawl
        </button>
      </ViewHead>
      <Awaited answer={answer} what="the crawls">
        {({ crawls }) =>
          crawls.length === 0 ? (
            <Empty title="No crawl yet">
              Begin one: give it a URL to start from, and it follows the links it finds.
            </Empty>
          ) : (
            <CrawlTable crawls={crawls} />
          )
        }
      </Awaited>
      {isBeginning ? <BeginDialog onClose={() => setBeginning(false)} /> : null}
    </>
  )
}

function CrawlTable({ crawls }: { crawls: readonly CrawlInfo[] }) {
  return (
    <div class="card flush">
      <table class="plain stacked">
        <caption class="hidden">Crawls</caption>
        <thead>
          <tr>
            <th scope="col">Crawl</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Pages
            </th>
            <th scope="col" class="number">
              Waiting
            </th>
            <th scope="col" class="number">
              Hosts
            </th>
            <th scope="col" class="number">
              Bytes
            </th>
            <th scope="col" class="number">
              Pages/s
            </th>
            <th scope="col">Begun</th>
          </tr>
        </thead>
        <tbody>
          {crawls.map(({ id, name, dir, state, figures, now, startedAt }) => (
            <tr key={id}>
              <th scope="row">
                <a href={hrefOf(id)}>
                  <bdi>{shown(name, 80)}</bdi>
                </a>
                <small>
                  <bdi>{shown(dir, 200)}</bdi>
                </small>
              </th>
              <td>
                <StatePill state={state} />
              </td>
              <td class="number" data-name="pages">
                {count(figures.pages)}
              </td>
              <td class="number" data-name="waiting">
                {count(figures.waiting)}
              </td>
              <td class="number" data-name="hosts">
                {count(figures.hosts)}
              </td>
              <td class="number" data-name="bytes">
                {bytes(figures.bytes)}
              </td>
              <td class="number" data-name="pages/s">
                {now === null ? '–' : rate(now.pagesPerSecond)}
              </td>
              <td data-name="begun" class="soft across">
                {startedAt === null ? '–' : moment(startedAt)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
