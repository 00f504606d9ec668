// What the web is like that was met, counted as pages came.

import { useEffect, useState } from 'preact/hooks'
import { Awaited, Card, ViewHead } from '../parts/basics.tsx'
import { Bars, barsOf } from '../parts/bars.tsx'
import { hrefOf } from '../route.ts'
import { useAnswer } from '../talk/use-answer.ts'
import { shown } from '../words/crawled-text.ts'
import { bytes, count, share } from '../words/formats.ts'
import { toneOfStatus } from '../words/meanings.ts'
import type { ViewProps } from './view.ts'

export function StatisticsView({ info }: ViewProps) {
  const [read, setRead] = useState(1)
  const answer = useAnswer('statistics', { crawl: info.id }, info.now !== null ? 15_000 : read < 1 ? 1_000 : null)
  useEffect(() => setRead(answer.data?.readShare ?? 1), [answer.data])
  return (
    <>
      <ViewHead
        title="Statistics"
        note={
          read < 1
            ? `Of the ${share(read, 1)} that the catalogue has read so far.`
            : 'What the web is like that was met.'
        }
      />
      <Awaited answer={answer} what="the statistics">
        {({ statuses, types, sizes, duplicates, topLevelDomains, servers, languages, depths }) => {
          const pages = Object.values(statuses).reduce((sum, one) => sum + one, 0)
          return (
            <div class="grid loose">
              <Card title="Statuses">
                <Bars
                  label="Pages by status"
                  what="pages"
                  bars={barsOf(statuses).map((bar) => ({
                    ...bar,
                    tone: toneOfStatus(Number(bar.name)),
                    href: hrefOf(info.id, 'pages', null, { status: bar.name }),
                  }))}
                />
              </Card>
              <Card title="Top-level domains" note={`${count(topLevelDomains.length)} of them`} className="tall">
                <DomainTable domains={topLevelDomains} />
              </Card>
              <Card title="Servers">
                <Bars label="Pages by server" what="pages" bars={barsOf(servers)} />
              </Card>
              <Card title="Media types">
                <Bars
                  label="Pages by media type"
                  what="pages"
                  bars={barsOf(types).map((bar) => ({
                    ...bar,
                    href: hrefOf(info.id, 'pages', null, { type: bar.name }),
                  }))}
                />
              </Card>
              <Card title="Languages">
                <Bars
                  label="Pages by language"
                  what="pages"
                  bars={barsOf(languages).map((bar) => ({ ...bar, tone: 'moved' as const }))}
                />
              </Card>
              <Card
                title="Sizes"
                note={duplicates === 1 ? '1 copy' : `${count(duplicates)} copies (${share(duplicates, pages)})`}
              >
                <Bars
                  label="Pages by size"
                  what="pages"
                  most={24}
                  bars={sizes
                    .filter(([, value]) => value > 0)
                    .map(([upTo, value]) => ({ name: `up to ${bytes(upTo)}`, value, tone: 'silent' as const }))}
                />
              </Card>
              <Card title="Depths" note="links from a seed">
                <Bars
                  label="Pages by depth"
                  what="pages"
                  most={24}
                  bars={Object.entries(depths)
                    .sort(([a], [b]) => Number(a) - Number(b))
                    .map(([name, value]) => ({ name, value, tone: 'good' as const }))}
                />
              </Card>
            </div>
          )
        }}
      </Awaited>
    </>
  )
}

function DomainTable({ domains }: { domains: readonly { name: string; hosts: number; pages: number }[] }) {
  if (domains.length === 0) return <p class="soft nothing">None.</p>
  return (
    <table class="plain dense">
      <caption class="hidden">Hosts and pages by top-level domain</caption>
      <thead>
        <tr>
          <th scope="col">Domain</th>
          <th scope="col" class="number">
            Hosts
          </th>
          <th scope="col" class="number">
            Pages
          </th>
        </tr>
      </thead>
      <tbody>
        {domains.slice(0, 20).map(({ name, hosts, pages }) => (
          <tr key={name}>
            <th scope="row">
              <bdi>{shown(name, 60)}</bdi>
            </th>
            <td class="number">{count(hosts)}</td>
            <td class="number">{count(pages)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
