// The dashboard for Grafana asks for nothing that is not there, and stands in its grid.

import { expect, test } from 'vitest'
import { allMetrics } from '../src/control/metrics.ts'
import { grafanaDashboard, vocabularyDoc } from './metrics-docs.ts'

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly refId: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly name: string; readonly definition: string }[] }
}

const dashboard = JSON.parse(grafanaDashboard()) as Dashboard
const expressions = dashboard.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))

test('every metric that it names exists, with the labels it asks for', () => {
  const known = new Map(allMetrics().map(({ name, labels }) => [name, labels]))
  const asked = [...expressions, ...dashboard.templating.list.map(({ definition }) => definition)]
  for (const expression of asked) {
    const names = expression.match(/portolan_\w+/g) ?? []
    expect([expression, names.length]).toEqual([expression, 1])
    const labels = known.get(names[0] ?? '')
    expect([expression, labels === undefined]).toEqual([expression, false])
    for (const [, label] of expression.matchAll(/(\w+)=~?"/g))
      expect([expression, labels]).toEqual([expression, expect.arrayContaining([label]) as unknown])
  }
})

test('every metric of a crawl can be seen, or is one that others show better', () => {
  const shown = new Set(expressions.flatMap((expression) => expression.match(/portolan_\w+/g) ?? []))
  const unseen = allMetrics().flatMap(({ name }) => (shown.has(name) || /_(?:agent|node)_/.test(name) ? [] : [name]))
  expect(unseen.sort()).toEqual([
    'portolan_agents',
    'portolan_bytes_per_second',
    'portolan_cpu_share',
    'portolan_nodes',
    'portolan_seconds_total',
    'portolan_shares',
  ])
})

test('panels have names of their own, lie in the grid, and none lies on another', () => {
  const { panels } = dashboard
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
  const cells = new Set<string>()
  for (const { title, gridPos } of panels) {
    expect([title, gridPos.x + gridPos.w <= 24]).toEqual([title, true])
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        expect([title, cells.has(`${x} ${y}`)]).toEqual([title, false])
        cells.add(`${x} ${y}`)
      }
    }
  }
})

test('the vocabulary has a text for each name', () => {
  const words = JSON.parse(vocabularyDoc()) as Record<string, Record<string, unknown>>
  expect(Object.keys(words)).toEqual(['figures', 'failures', 'skipped', 'refused', 'stoppedBecause', 'optOuts'])
  expect(words['figures']?.['pages']).toMatchObject({ label: 'Pages', unit: 'count' })
})
