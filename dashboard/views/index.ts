// The views of a crawl by their names in the address, and how the menu groups them.

import { ArchiveView } from './archive.tsx'
import { BrokenView } from './broken.tsx'
import { ChangesView } from './changes.tsx'
import { EventsView } from './events.tsx'
import { HostsView } from './hosts.tsx'
import { NodesView } from './nodes.tsx'
import { OverviewView } from './overview.tsx'
import { PagesView } from './pages.tsx'
import { SettingsView } from './settings.tsx'
import { SkippedView } from './skipped.tsx'
import { StatisticsView } from './statistics.tsx'
import type { ViewEntry } from './view.ts'

export const VIEWS: Readonly<Record<string, ViewEntry>> = {
  overview: { label: 'Overview', View: OverviewView },
  hosts: { label: 'Hosts', View: HostsView },
  pages: { label: 'Pages', View: PagesView },
  broken: { label: 'Broken links', View: BrokenView },
  skipped: { label: 'Failed and skipped', View: SkippedView },
  statistics: { label: 'Statistics', View: StatisticsView },
  nodes: { label: 'Nodes and agents', View: NodesView },
  settings: { label: 'Settings', View: SettingsView },
  events: { label: 'Events', View: EventsView },
  changes: { label: 'Changes', View: ChangesView },
  archive: { label: 'Archive files', View: ArchiveView },
}

export const GROUPS: readonly { readonly name: string; readonly views: readonly string[] }[] = [
  { name: 'Crawl', views: ['overview', 'hosts', 'pages', 'broken', 'skipped', 'statistics'] },
  { name: 'Steer', views: ['nodes', 'settings'] },
  { name: 'Record', views: ['events', 'changes', 'archive'] },
]
