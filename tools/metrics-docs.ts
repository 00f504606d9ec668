// What is derived from the table of figures: docs/metrics.md for people, docs/vocabulary.json for programs that show numbers and
// reasons, and a dashboard that Grafana imports.

import { FAILURES, type Figure, FIGURES, OPT_OUTS, REFUSALS, SKIPS, STOPS } from '../src/base/index.ts'
import { allMetrics } from '../src/control/metrics.ts'

type Table = (head: readonly string[], rows: readonly (readonly string[])[]) => string

export function metricsDoc(note: string, table: Table): string {
  const code = (text: string): string => `\`${text}\``
  return `${note}

# Figures and metrics

Every number has one name, wherever it is told: in \`crawl.json\` and \`portolan crawl --json\`, \`portolan status --json\`, the timeline,
the control API, the lines of \`--log json\`, and the metrics.

## Metrics

\`GET /metrics\` of \`portolan ui\` and \`portolan crawl --dashboard\`, in the text format of Prometheus:

    scrape_configs:
      - job_name: portolan
        authorization: { credentials: TOKEN }      # what stands behind #token= in the link that is printed
        static_configs: [{ targets: ['127.0.0.1:PORT'] }]

[grafana-dashboard.json](grafana-dashboard.json) is a dashboard for Grafana over these metrics (Dashboards, New, Import). Labels are few:
\`crawl\` is its name at this server, \`node\` and \`agent\` tell parts of it apart, \`code\`, \`class\`, \`reason\` and \`state\` come from the
tables of [errors.md](errors.md). No URL and no host is ever one. A counter goes on where it was when a crawl is run again.

${table(
  ['metric', 'type', 'labels', 'what it counts'],
  allMetrics().map(({ name, kind, labels, text }) => [code(name), kind, labels.map(code).join(', '), text]),
)}

## Figures

${table(
  ['name', 'unit', 'kind', 'what it is'],
  Object.entries(FIGURES).map(([name, figure]: [string, Figure]) => [
    code(name),
    figure.unit,
    figure.by === undefined ? figure.kind : `${figure.kind}, by ${figure.by}`,
    figure.text,
  ]),
)}

In the timeline \`skipped\` is the sum over all reasons.
`
}

export function vocabularyDoc(): string {
  const figures = Object.fromEntries(
    Object.entries(FIGURES).map(([name, { label, unit, kind, text }]) => [name, { label, unit, kind, text }]),
  )
  const words = { failures: FAILURES, skipped: SKIPS, refused: REFUSALS, stoppedBecause: STOPS, optOuts: OPT_OUTS }
  return `${JSON.stringify({ figures, ...words }, null, 2)}\n`
}

// ── Grafana ─────────────────────────────────────────────────────────────────────────────────────

interface PanelPlan {
  readonly title: string
  readonly unit: string
  readonly type?: 'timeseries' | 'stat'
  readonly width: number
  readonly height?: number
  readonly isStacked?: boolean
  /** [query, legend]; $crawl and $node are the variables. */
  readonly queries: readonly (readonly [expression: string, legend: string])[]
}

const OF_CRAWL = '{crawl=~"$crawl"}'
const OF_NODE = '{crawl=~"$crawl",node=~"$node"}'
const RANGE = '[$__rate_interval]'

const rate = (metric: string, of = OF_CRAWL): string => `rate(${metric}${of}${RANGE})`
const by = (label: string, expression: string): string => `sum by (crawl, ${label}) (${expression}) > 0`

const ROWS: readonly { readonly title: string; readonly panels: readonly PanelPlan[] }[] = [
  {
    title: 'Now',
    panels: [
      stat('Pages', 'short', `sum(portolan_pages_total${OF_CRAWL})`),
      stat('Pages per second', 'reqps', `sum(portolan_pages_per_second${OF_CRAWL})`),
      stat('Waiting', 'short', `sum(portolan_waiting_urls${OF_CRAWL})`),
      stat('Stored', 'bytes', `sum(portolan_bytes_total${OF_CRAWL})`),
      stat('Failed', 'short', `sum(portolan_failed_total${OF_CRAWL})`),
      stat('Crawls running', 'short', `sum(portolan_state{crawl=~"$crawl",state="running"})`),
    ],
  },
  {
    title: 'Course',
    panels: [
      lines('Pages per second', 'reqps', [[rate('portolan_pages_total'), '{{crawl}}']]),
      lines('Bytes per second', 'Bps', [
        [rate('portolan_bytes_total'), '{{crawl}} decoded'],
        [rate('portolan_wire_bytes_total'), '{{crawl}} received'],
      ]),
      lines('Waiting and seen', 'short', [
        [`portolan_waiting_urls${OF_CRAWL}`, '{{crawl}} waiting'],
        [`portolan_urls_seen_total${OF_CRAWL}`, '{{crawl}} seen'],
      ]),
      lines('Requests under way', 'short', [[`portolan_active_requests${OF_CRAWL}`, '{{crawl}}']]),
    ],
  },
  {
    title: 'Outcomes',
    panels: [
      lines('Answers by class', 'reqps', [[by('class', rate('portolan_answers_total')), '{{class}}']], true),
      lines('Failures by code', 'reqps', [[by('code', rate('portolan_failures_total')), '{{code}}']], true),
      lines('Skipped by reason', 'reqps', [[by('reason', rate('portolan_skipped_total')), '{{reason}}']], true),
      lines('Links refused by reason', 'reqps', [[by('reason', rate('portolan_refused_total')), '{{reason}}']], true),
    ],
  },
  {
    title: 'Hosts and limits',
    panels: [
      lines('Hosts by state', 'short', [[`portolan_hosts_by_state${OF_CRAWL}`, '{{crawl}} {{state}}']], true),
      lines('Hosts met', 'short', [[`portolan_hosts${OF_CRAWL}`, '{{crawl}}']]),
      lines('Requests allowed, by agent', 'short', [
        [`portolan_agent_requests_limit${OF_CRAWL}`, '{{crawl}} {{node}} {{agent}} now'],
        [`portolan_agent_connections_limit${OF_CRAWL}`, '{{crawl}} {{node}} {{agent}} as set'],
      ]),
      lines('Speed limits, by agent', 'reqps', [
        [`portolan_agent_requests_per_second_limit${OF_CRAWL}`, '{{crawl}} {{node}} {{agent}}'],
      ]),
    ],
  },
  {
    title: 'Machine',
    panels: [
      lines('Memory', 'bytes', [
        [`portolan_rss_bytes${OF_CRAWL}`, '{{crawl}}'],
        [`portolan_peak_rss_bytes${OF_CRAWL}`, '{{crawl}} at most'],
      ]),
      lines('Processors in use', 'short', [[rate('portolan_cpu_seconds_total'), '{{crawl}}']]),
      lines('Agents started again', 'short', [[`portolan_restarts_total${OF_CRAWL}`, '{{crawl}}']]),
      lines('Catalogue read', 'percentunit', [[`portolan_catalogue_read_share${OF_CRAWL}`, '{{crawl}}']]),
    ],
  },
  {
    title: 'Agents and nodes',
    panels: [
      lines('Pages per second, by agent', 'reqps', [
        [rate('portolan_agent_pages_total'), '{{crawl}} {{node}} {{agent}}'],
      ]),
      lines('Waiting, by agent', 'short', [[`portolan_agent_waiting_urls${OF_CRAWL}`, '{{crawl}} {{node}} {{agent}}']]),
      lines('Pages per second, by node', 'reqps', [[rate('portolan_node_done_pages_total', OF_NODE), '{{node}}']]),
      lines('Shares, by node', 'short', [[`portolan_node_shares${OF_NODE}`, '{{node}}']], true),
      lines('Memory, by node', 'bytes', [[`portolan_node_rss_bytes${OF_NODE}`, '{{node}}']]),
      lines('Since the last beat, by node', 's', [[`portolan_node_last_beat_seconds${OF_NODE}`, '{{node}}']]),
    ],
  },
]

function stat(title: string, unit: string, expression: string): PanelPlan {
  return { title, unit, type: 'stat', width: 4, height: 4, queries: [[expression, title]] }
}

function lines(title: string, unit: string, queries: PanelPlan['queries'], isStacked = false): PanelPlan {
  return { title, unit, width: 12, queries, isStacked }
}

/** Columns of Grafana's grid. */
const GRID_WIDTH = 24

export function grafanaDashboard(): string {
  const panels: unknown[] = []
  let y = 0
  for (const row of ROWS) {
    panels.push({
      id: panels.length + 1,
      type: 'row',
      title: row.title,
      collapsed: false,
      panels: [],
      gridPos: { h: 1, w: GRID_WIDTH, x: 0, y },
    })
    y++
    let x = 0
    for (const plan of row.panels) {
      const h = plan.height ?? 8
      panels.push(panel(panels.length + 1, plan, { h, w: plan.width, x, y }))
      x += plan.width
      if (x < GRID_WIDTH && plan !== row.panels.at(-1)) continue
      x = 0
      y += h
    }
  }
  return `${JSON.stringify(
    {
      __inputs: [
        {
          name: 'DS_PROMETHEUS',
          label: 'Prometheus',
          type: 'datasource',
          pluginId: 'prometheus',
          pluginName: 'Prometheus',
        },
      ],
      uid: 'portolan',
      title: 'Portolan',
      description: 'Crawls by Portolan: speed, outcomes, hosts, agents and nodes.',
      tags: ['portolan', 'crawler'],
      schemaVersion: 39,
      version: 1,
      editable: true,
      refresh: '10s',
      time: { from: 'now-1h', to: 'now' },
      timezone: 'utc',
      templating: {
        list: [
          variable('crawl', 'portolan_pages_total', ''),
          variable('node', 'portolan_node_shares', '{crawl=~"$crawl"}'),
        ],
      },
      annotations: { list: [] },
      links: [],
      panels,
    },
    null,
    2,
  )}\n`
}

const DATASOURCE = { type: 'prometheus', uid: '${DS_PROMETHEUS}' }

function variable(name: string, metric: string, of: string): unknown {
  const query = `label_values(${metric}${of}, ${name})`
  return {
    name,
    label: `${name[0]?.toUpperCase()}${name.slice(1)}`,
    type: 'query',
    datasource: DATASOURCE,
    definition: query,
    query: { query, refId: name },
    refresh: 2,
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
    sort: 1,
  }
}

function panel(
  id: number,
  { title, unit, type = 'timeseries', queries, isStacked = false }: PanelPlan,
  gridPos: unknown,
): unknown {
  const custom = {
    lineWidth: 1,
    fillOpacity: isStacked ? 30 : 8,
    showPoints: 'never',
    stacking: { mode: isStacked ? 'normal' : 'none', group: 'A' },
  }
  return {
    id,
    type,
    title,
    datasource: DATASOURCE,
    gridPos,
    fieldConfig: { defaults: { unit, min: 0, ...(type === 'timeseries' ? { custom } : {}) }, overrides: [] },
    options:
      type === 'timeseries'
        ? {
            legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
            tooltip: { mode: 'multi', sort: 'desc' },
          }
        : {
            reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
            colorMode: 'none',
            graphMode: 'area',
            textMode: 'auto',
          },
    targets: queries.map(([expr, legendFormat], index) => ({
      refId: String.fromCodePoint(65 + index),
      datasource: DATASOURCE,
      expr,
      legendFormat,
      ...(type === 'stat' ? { instant: false } : {}),
    })),
  }
}
