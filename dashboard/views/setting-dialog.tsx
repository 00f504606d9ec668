// One option changed: typed, previewed, made.

import { useState } from 'preact/hooks'
import type { AnswerOf, CrawlInfo } from '../../src/control/api.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ChoiceField, errorAt, FormTrouble, LinesField, TextField, useDoing } from '../parts/form.tsx'
import { tell } from '../parts/notices.tsx'
import { Preview } from '../parts/preview.tsx'
import { ApiError, call } from '../talk/client.ts'
import { shown } from '../words/crawled-text.ts'
import { EFFECT_AT_REST, EFFECTS } from '../words/meanings.ts'
import { asTyped, editorOf, fromTyped } from './setting-values.ts'

type Setting = AnswerOf<'settings'>['settings'][number]

export function SettingDialog({
  info,
  setting,
  onClose,
  onDone,
}: {
  info: CrawlInfo
  setting: Setting
  onClose: () => void
  onDone: () => void
}) {
  const editor = editorOf(setting.schema, setting.value)
  const [text, setText] = useState(asTyped(setting.value, editor, setting.schema))
  const [preview, setPreview] = useState<AnswerOf<'preview'> | null>(null)
  const doing = useDoing()
  const where = `options.${setting.name}`
  const error = errorAt(doing.error?.fields ?? [], where)
  const isWaiting = info.figures.waiting > 0

  const options = (value: unknown): Record<string, Record<string, unknown>> => ({
    [setting.section]: { [setting.key]: value },
  })
  const typed = (): unknown => {
    try {
      return fromTyped(text, editor, setting.schema)
    } catch (caught) {
      const what = caught instanceof Error ? caught.message : String(caught)
      throw new ApiError(0, 'value', what, [{ where, what }])
    }
  }
  const look = async (): Promise<void> =>
    setPreview(await call('preview', { crawl: info.id }, { options: options(typed()) }))
  const set = async (value: unknown): Promise<void> => {
    const answer = await call('set', { crawl: info.id }, { options: options(value) })
    tell(answer.text)
    onDone()
    onClose()
  }
  const change = (value: string): void => {
    setText(value)
    setPreview(null)
  }
  const field = {
    label: setting.name,
    hint: `${setting.text} Usually ${shown(setting.usualText, 120)}.`,
    error,
    value: text,
    onValue: change,
  }
  return (
    <Dialog title={`Change ${setting.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void doing.run(async () => set(typed()))
        }}
      >
        <FormTrouble error={doing.error} known={[where]} />
        {editor.kind === 'choice' ? (
          <ChoiceField
            {...field}
            choices={editor.choices.map(
              (name) => [name, name === 'true' ? 'yes' : name === 'false' ? 'no' : name] as const,
            )}
          />
        ) : editor.kind === 'text' ? (
          <TextField {...field} />
        ) : (
          <LinesField
            {...field}
            rows={editor.kind === 'json' ? 8 : 5}
            hint={editor.kind === 'json' ? `${field.hint} Written as JSON.` : `${field.hint} One a line.`}
          />
        )}
        {preview === null ? (
          <p class="soft">
            {setting.takesEffect === 'never'
              ? ''
              : `A change ${info.now === null ? EFFECT_AT_REST : EFFECTS[setting.takesEffect]}.`}
          </p>
        ) : (
          <Preview preview={preview} />
        )}
        <div class="form-actions">
          {setting.isSaid ? (
            <button
              type="button"
              class="button quiet start"
              disabled={doing.isBusy}
              onClick={() => void doing.run(() => set(null))}
            >
              As usual again
            </button>
          ) : null}
          {isWaiting ? (
            <button type="button" class="button" disabled={doing.isBusy} onClick={() => void doing.run(look)}>
              {doing.isBusy ? 'Looking …' : 'Preview'}
            </button>
          ) : null}
          <button type="submit" class="button main" disabled={doing.isBusy}>
            Apply
          </button>
        </div>
      </form>
    </Dialog>
  )
}
