import { expect, test } from 'vitest'
import { checkChange, listSettings, takesEffectOf, withoutSecrets } from './option-changes.ts'
import { FieldsFault } from './refusals.ts'
import type { SaidOptions } from './steered-crawl.ts'

function fieldsOf(said: SaidOptions, options: SaidOptions): string[] {
  try {
    checkChange(said, options)
    return []
  } catch (fault) {
    if (!(fault instanceof FieldsFault)) throw fault
    return fault.fields.map(({ where, what }) => `${where}: ${what}`)
  }
}

test('what is said is joined with what was said; null takes an option back', () => {
  const said = { url: { exclude: ['/a/'], maxDepth: 3 }, frontier: { delay: '2s' } }
  const change = checkChange(said, { url: { maxDepth: null, block: ['example.org'] } })
  expect(change.said).toEqual({ url: { exclude: ['/a/'], block: ['example.org'] }, frontier: { delay: '2s' } })
  expect(change.config.url).toMatchObject({ maxDepth: null, block: ['example.org'], exclude: [/\/a\//] })
  expect(change.config.frontier.delay).toBe(2_000)
  expect(change.takesEffect).toBe('anew')
})

test('speeds take effect now, alone; with anything else the crawl is opened anew', () => {
  const { takesEffect, speed } = checkChange({}, { agent: { maxRate: 5, maxBandwidth: '1MiB' } })
  expect({ takesEffect, speed }).toEqual({ takesEffect: 'now', speed: { ratePerSecond: 5, bytesPerSecond: 2 ** 20 } })
  expect(checkChange({ agent: { maxRate: 5 } }, { agent: { maxRate: null } }).speed).toEqual({ ratePerSecond: null })
  expect(checkChange({}, { agent: { maxRate: 5, retries: 1 } })).toMatchObject({ takesEffect: 'anew', speed: null })
})

test('every complaint names its field', () => {
  expect(fieldsOf({}, { url: { exclude: ['ok', '('] } })[0]).toMatch(/^options\.url\.exclude\.1: /)
  expect(fieldsOf({}, { frontier: { delay: 5 } })[0]).toMatch(/^options\.frontier\.delay: 5 is not a duration/)
  expect(fieldsOf({}, { url: { exlude: ['a'] } })).toEqual(['options.url.exlude: unknown; did you mean exclude?'])
  expect(fieldsOf({}, { url: { exlude: null } })[0]).toMatch(/^options\.url\.exlude: unknown/)
  expect(fieldsOf({}, { ulr: { exclude: [] } })[0]).toMatch(/^options\.ulr: unknown/)
  expect(fieldsOf({}, { url: { block: ['a b'] } })).toEqual(['options.url.block.0: is not a host name'])
  expect(fieldsOf({}, { agent: { agents: 64, memory: '256MiB' } })[0]).toMatch(/^options\.agent\.memory: /)
})

test('what was fixed when the crawl began says why it cannot change; said again as it was it may be', () => {
  const said = { url: { sessionIds: ['sid'] } }
  expect(fieldsOf(said, { url: { sessionIds: [] } })[0]).toMatch(/^options\.url\.sessionIds: cannot change: /)
  expect(fieldsOf(said, { url: { sessionIds: ['sid'] } })).toEqual([])
  expect(fieldsOf({}, { engine: { nats: ['nats://a:1'] } })[0]).toMatch(/^options\.engine\.nats: cannot change: /)
  expect(takesEffectOf('url', 'sessionIds')).toBe('never')
})

test('secrets are in no list and no record', () => {
  const said = {
    fetch: {
      logins: [{ host: 'a.test', kind: 'basic', user: 'u', password: 'hush' }],
      headers: { 'X-Key': 'hush' },
      proxy: 'http://u:hush@hush@proxy.test:1/',
    },
  }
  for (const shown of [listSettings(said), withoutSecrets(said)]) {
    const text = JSON.stringify(shown)
    expect(text).not.toContain('hush')
    expect(text).toContain('proxy.test')
  }
})

test('every option is listed, with a schema and a usual value', () => {
  const { settings } = listSettings({ frontier: { delay: '3s' } })
  expect(settings.find(({ name }) => name === 'frontier.delay')).toMatchObject({
    value: '3s',
    usual: '1s',
    isSaid: true,
    flag: 'delay',
    takesEffect: 'anew',
  })
  expect(settings.find(({ name }) => name === 'agent.maxRate')).toMatchObject({
    value: null,
    isSaid: false,
    takesEffect: 'now',
  })
  expect(settings.every(({ schema }) => typeof schema === 'object')).toBe(true)
})
