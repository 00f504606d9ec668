import { describe, expect, test } from 'vitest'
import type { HostKey } from '../url/index.ts'
import { HostRules } from './host-rules.ts'
import { rulesSchema } from './host-rules-schema.ts'

const of = (rules: unknown): HostRules | null => HostRules.of(rulesSchema.parse(rules))
const delayOf = (rules: HostRules | null, host: string): number | undefined => rules?.ruleOf(host as HostKey)?.delay

describe('rules by host', () => {
  test('the first that matches holds, whatever kind of pattern it is', () => {
    const rules = of([
      { hosts: 'a.example', delay: '1s' },
      { hosts: ['*.example', 'b.test'], delay: '2s' },
      { hosts: ['x.b.example', '*.b.example'], delay: '3s' },
      { hosts: '*', delay: '4s' },
      { hosts: 'c.test', delay: '5s' },
    ])
    const hosts = ['a.example', 'x.b.example', 'b.test', 'c.test', 'example', '[::1]']
    expect(hosts.map((host) => delayOf(rules, host))).toEqual([1_000, 2_000, 2_000, 4_000, 4_000, 4_000])
  })

  test('*. is what lies below a name, at any depth, and not the name', () => {
    const rules = of([{ hosts: '*.shop.example', delay: '9s' }])
    expect(delayOf(rules, 'a.shop.example')).toBe(9_000)
    expect(delayOf(rules, 'a.b.shop.example')).toBe(9_000)
    expect(delayOf(rules, 'shop.example')).toBeUndefined()
    expect(delayOf(rules, 'bshop.example')).toBeUndefined()
  })

  test('a name is compared as the crawl knows it', () => {
    const rules = of([{ hosts: ['BÜCHER.example', '127.1'], delay: '0ms' }])
    expect(delayOf(rules, 'xn--bcher-kva.example')).toBe(0)
    expect(delayOf(rules, '127.0.0.1')).toBe(0)
  })

  test('no rules are nothing to look up', () => {
    expect(of([])).toBeNull()
  })

  test.each([
    [{ hosts: 'https://example.org', delay: '1s' }],
    [{ hosts: 'example.org:8080', delay: '1s' }],
    [{ hosts: 'ex*.org', delay: '1s' }],
    [{ hosts: '', delay: '1s' }],
    [{ hosts: [], delay: '1s' }],
    [{ hosts: 'a.test', delay: '5' }],
    [{ hosts: 'a.test', zone: 'Europe/Berlin' }],
    [{ hosts: 'a.test', hours: 'at night' }],
    [{ hosts: 'a.test', hours: '22:00-06:00', days: ['someday'] }],
    [{ hosts: 'a.test', speed: 3 }],
    [{ delay: '1s' }],
  ])('%j is refused', (rule) => {
    expect(rulesSchema.safeParse([rule]).success).toBe(false)
  })

  test('are plain data, as threads are told them', () => {
    const parsed = rulesSchema.parse([{ hosts: '*.a.test', delay: '1s', hours: '22:00-06:00', days: ['mon'] }])
    expect(structuredClone(parsed)).toEqual(parsed)
    expect(
      HostRules.of(structuredClone(parsed))
        ?.ruleOf('b.a.test' as HostKey)
        ?.hours?.toString(),
    ).toBe('22:00–06:00 mon UTC')
  })
})
