// One host closer: how it is treated and why, what it answered, what is left of its budget; and a slower pace for it.

import { useState } from 'preact/hooks'
import type { CrawlInfo } from '../../src/control/api.ts'
import { Awaited, Facts, Pill, Shown } from '../parts/basics.tsx'
import { Bars, barsOf } from '../parts/bars.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { errorAt, FormTrouble, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { hrefOf } from '../route.ts'
import { call } from '../talk/client.ts'
import { useAnswer } from '../talk/use-answer.ts'
import { shown } from '../words/crawled-text.ts'
import { bytes, count, duration, fromNow, moment, things } from '../words/formats.ts'
import { HOST_STATES, meaningOf, toneOfStatus } from '../words/meanings.ts'

export function HostDetail({ info, host }: { info: CrawlInfo; host: string }) {
  const answer = useAnswer('host', { crawl: info.id, host }, 5_000)
  const [isSlowing, setSlowing] = useState(false)
  return (
    <>
      <h2 class="detail-title">
        <Shown text={host} />
      </h2>
      <Awaited answer={answer} what="the host">
        {(one) => (
          <>
            <div class="detail-actions">
              <a class="button small" href={hrefOf(info.id, 'pages', null, { host })}>
                Its pages
              </a>
              <a class="button small" href={hrefOf(info.id, 'skipped', null, { host })}>
                Failed and skipped
              </a>
              {info.can.includes('set') ? (
                <button type="button" class="button small" onClick={() => setSlowing(true)}>
                  Slow down this host
                </button>
              ) : null}
            </div>
            <Facts
              rows={[
                [
                  'State',
                  one.state === null ? null : (
                    <Pill key="state" tone={HOST_STATES[one.state].tone} title={HOST_STATES[one.state].text}>
                      {HOST_STATES[one.state].name}
                      {one.restUntil === null ? '' : ` ${fromNow(one.restUntil, Date.now())}`}
                    </Pill>
                  ),
                ],
                ['Pages', count(one.pages)],
                ['Waiting', one.waiting === null ? null : count(one.waiting)],
                ['Errors', count(one.errors)],
                ['Bytes', bytes(one.bytes)],
                ['Budget left', one.budgetLeft === null ? 'no limit' : things(one.budgetLeft, 'pages')],
                ['Address', one.address === null ? null : <code key="address">{shown(one.address)}</code>],
                [
                  'Rest between requests',
                  one.restMs === null ? null : (
                    <span key="rest">
                      {duration(one.restMs / 1_000)}
                      {one.restBecause.map((why) => (
                        <small key={why}>{shown(why)}</small>
                      ))}
                    </span>
                  ),
                ],
                [
                  'robots.txt',
                  one.robots === null ? (
                    // Of a cluster its owner knows, who does not tell.
                    info.cluster !== null || one.pages > 0 ? null : (
                      'not asked for yet'
                    )
                  ) : (
                    <span key="robots">
                      {shown(one.robots.answer)}
                      <small>
                        had {moment(one.robots.fetchedAt)}
                        {one.robots.crawlDelayMs === null
                          ? ''
                          : `, asks for ${duration(one.robots.crawlDelayMs / 1_000)} between requests`}
                      </small>
                    </span>
                  ),
                ],
              ]}
            />
            <h3>Answers</h3>
            <Bars
              label="Pages by status"
              what="pages"
              bars={barsOf(one.statuses).map((bar) => ({
                ...bar,
                tone: toneOfStatus(Number(bar.name)),
                href: hrefOf(info.id, 'pages', null, { host, status: bar.name }),
              }))}
            />
            <h3>Media types</h3>
            <Bars label="Pages by media type" what="pages" most={8} bars={barsOf(one.types)} />
            <h3>Failed and skipped</h3>
            <Bars
              label="Failed and skipped by reason"
              what="URLs"
              bars={[
                ...barsOf(one.failures).map((bar) => ({ ...bar, tone: 'bad' as const, text: meaningOf(bar.name) })),
                ...barsOf(one.skipped).map((bar) => ({ ...bar, tone: 'warn' as const, text: meaningOf(bar.name) })),
              ]}
            />
            {isSlowing ? (
              <SlowDialog info={info} host={host} restMs={one.restMs} onClose={() => setSlowing(false)} />
            ) : null}
          </>
        )}
      </Awaited>
    </>
  )
}

interface Rule {
  readonly hosts: string | readonly string[]
}

/** A rule of its own, before all others: the first that matches holds. Another delay of a rule like this one replaces it. */
export function rulesWith(rules: unknown, host: string, delay: string): readonly unknown[] {
  const given = Array.isArray(rules) ? (rules as Rule[]) : []
  const isOwn = ({ hosts }: Rule): boolean =>
    hosts === host || (Array.isArray(hosts) && hosts.length === 1 && hosts[0] === host)
  const own = given.find(isOwn)
  return [{ ...own, hosts: [host], delay }, ...given.filter((rule) => rule !== own)]
}

function SlowDialog({
  info,
  host,
  restMs,
  onClose,
}: {
  info: CrawlInfo
  host: string
  restMs: number | null
  onClose: () => void
}) {
  const [delay, setDelay] = useState(`${Math.max(2, Math.ceil(((restMs ?? 1_000) / 1_000) * 2))}s`)
  const doing = useDoing()
  const slow = async (): Promise<void> => {
    const { settings } = await call('settings', { crawl: info.id })
    const rules = settings.find(({ name }) => name === 'frontier.rules')?.value
    const answer = await call(
      'set',
      { crawl: info.id },
      {
        options: { frontier: { rules: rulesWith(rules, host, delay.trim()) } },
      },
    )
    tell(answer.text)
    onClose()
  }
  return (
    <Dialog title={`Slow down ${shown(host, 80)}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(slow)
        }}
      >
        <FormTrouble error={doing.error} known={['options.frontier.rules']} />
        <TextField
          label="Rest between two requests"
          hint="5s, 2m, 500ms. It becomes a rule for this host (frontier.rules); the crawl is opened anew, which takes seconds."
          value={delay}
          onValue={setDelay}
          error={errorAt(doing.error?.fields ?? [], 'options.frontier.rules')}
        />
        <div class="form-actions">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button main" disabled={doing.isBusy}>
            Slow down
          </button>
        </div>
      </form>
    </Dialog>
  )
}
