// What every view of a crawl is given.

import type { ComponentChildren } from 'preact'
import type { CrawlInfo } from '../../src/control/api.ts'
import type { Route } from '../route.ts'
import type { LiveCrawl } from '../talk/live.ts'

export interface ViewProps {
  readonly live: LiveCrawl
  readonly info: CrawlInfo
  readonly route: Route
}

export interface ViewEntry {
  readonly label: string
  readonly View: (props: ViewProps) => ComponentChildren
}
