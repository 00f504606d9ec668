// Every option: what it is, what it means, and when a change takes effect. Changes are previewed before they are made.

import { useState } from 'preact/hooks'
import type { AnswerOf, CrawlInfo } from '../../src/control/api.ts'
import { Awaited, Card, Empty, Pill, Shown, ViewHead } from '../parts/basics.tsx'
import { FilterText, FilterChoice, Filters } from '../parts/filters.tsx'
import { useAnswer } from '../talk/use-answer.ts'
import { shown } from '../words/crawled-text.ts'
import { count } from '../words/formats.ts'
import { EFFECT_AT_REST, EFFECTS, type Tone } from '../words/meanings.ts'
import { BlackListCard } from './black-list-card.tsx'
import { SettingDialog } from './setting-dialog.tsx'
import { asText } from './setting-values.ts'
import type { ViewProps } from './view.ts'

export type Setting = AnswerOf<'settings'>['settings'][number]

const TONES: Readonly<Record<Setting['takesEffect'], Tone>> = { now: 'good', anew: 'moved', never: 'idle' }
const MARKS = { now: 'at once', anew: 'reopens it', never: 'fixed' } as const

function matches({ name, text, flag, value }: Setting, words: readonly string[]): boolean {
  const all = `${name} ${text} ${flag ?? ''} ${asText(value)}`.toLowerCase()
  return words.every((word) => all.includes(word))
}

export function SettingsView({ info, route }: ViewProps) {
  const answer = useAnswer('settings', { crawl: info.id })
  const [open, setOpen] = useState<Setting | null>(null)
  const words = (route.query['text'] ?? '')
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const said = route.query['said'] ?? ''
  return (
    <>
      <ViewHead title="Settings" note="Every option, with what it is now and when a change takes effect." />
      <Awaited answer={answer} what="the settings">
        {({ settings }) => {
          const found = settings.filter((one) => matches(one, words) && (said === '' || one.isSaid))
          const sections = [...new Set(found.map(({ section }) => section))]
          return (
            <>
              {words.length > 0 || said !== '' ? null : (
                <BlackListCard info={info} settings={settings} onDone={answer.again} />
              )}
              <Filters>
                <FilterText
                  route={route}
                  name="text"
                  label="Search options"
                  placeholder="delay, robots"
                  className="grow"
                />
                <FilterChoice
                  route={route}
                  name="said"
                  label="Show"
                  choices={[
                    ['', 'all'],
                    ['1', 'what was set'],
                  ]}
                />
                <p class="soft filter-note" role="status">
                  {count(found.length)} of {count(settings.length)} options
                </p>
              </Filters>
              {found.length === 0 ? <Empty title="No option matches">Fewer words find more.</Empty> : null}
              {sections.map((section) => (
                <Section
                  key={section}
                  info={info}
                  name={section}
                  settings={found.filter((one) => one.section === section)}
                  onChange={setOpen}
                />
              ))}
            </>
          )
        }}
      </Awaited>
      {open === null ? null : (
        <SettingDialog info={info} setting={open} onClose={() => setOpen(null)} onDone={answer.again} />
      )}
    </>
  )
}

function Section({
  info,
  name,
  settings,
  onChange,
}: {
  info: CrawlInfo
  name: string
  settings: readonly Setting[]
  onChange: (setting: Setting) => void
}) {
  const mayChange = info.can.includes('set')
  return (
    <Card title={name} className="flush">
      <table class="plain settings">
        <caption class="hidden">Options of {name}</caption>
        <thead class="hidden">
          <tr>
            <th scope="col">Option</th>
            <th scope="col">Value</th>
            <th scope="col">A change</th>
          </tr>
        </thead>
        <tbody>
          {settings.map((setting) => (
            <tr key={setting.name}>
              <th scope="row">
                <code>{setting.name}</code>
                {setting.flag === null ? null : <code class="soft flag">--{shown(setting.flag, 80)}</code>}
                <small>{setting.text}</small>
              </th>
              <td>
                <span class={`value${setting.isSaid ? ' said' : ''}`}>
                  <Shown text={asText(setting.value)} most={160} />
                </span>
                {setting.isSaid ? (
                  <small>
                    usually <Shown text={setting.usualText} most={80} />
                  </small>
                ) : null}
              </td>
              <td class="row-actions">
                {info.now === null && setting.takesEffect !== 'never' ? (
                  <Pill tone="moved" title={EFFECT_AT_REST}>
                    next start
                  </Pill>
                ) : (
                  <Pill tone={TONES[setting.takesEffect]} title={EFFECTS[setting.takesEffect]}>
                    {MARKS[setting.takesEffect]}
                  </Pill>
                )}
                {mayChange && setting.takesEffect !== 'never' ? (
                  <button
                    type="button"
                    class="button small"
                    aria-label={`Change ${setting.name}`}
                    onClick={() => onChange(setting)}
                  >
                    Change
                  </button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Card>
  )
}
