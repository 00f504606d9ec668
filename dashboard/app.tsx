// The frame around the views: which crawl, how it stands, where one can go.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Empty, Loading, StatePill, Trouble } from './parts/basics.tsx'
import { Notices } from './parts/notices.tsx'
import { hrefOf, type Route, route as routes } from './route.ts'
import { LiveCrawl } from './talk/live.ts'
import { isTokenRefused } from './talk/session.ts'
import { useStore } from './talk/store.ts'
import { nextTheme, theme as themes } from './theme.ts'
import { TokenForm } from './token-form.tsx'
import { CrawlsView } from './views/crawls.tsx'
import { GROUPS, VIEWS } from './views/index.ts'
import { compact, rate } from './words/formats.ts'
import { shown } from './words/crawled-text.ts'

const THEMES = { system: ['◐', 'as the system'], light: ['☀', 'light'], dark: ['☾', 'dark'] } as const

export function App() {
  const route = useStore(routes)
  const isRefused = useStore(isTokenRefused)
  const live = useLive(isRefused ? null : route.crawl)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const main = useRef<HTMLElement>(null)
  useFocusOnView(route, main.current)
  useEffect(() => setMenuOpen(false), [route])

  return (
    <div class="app">
      <button type="button" class="skip button" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href={hrefOf(null)} aria-label="Portolan, all crawls">
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M12 1l2.6 8.4L23 12l-8.4 2.6L12 23l-2.6-8.4L1 12l8.4-2.6z" fill="currentColor" />
          </svg>
          <span>Portolan</span>
        </a>
        {live === null ? <span class="grow" /> : <Standing live={live} />}
        <ThemeSwitch />
        {live === null ? null : (
          <button
            type="button"
            class="button quiet menu-button"
            aria-expanded={isMenuOpen}
            aria-controls="views"
            onClick={() => setMenuOpen(!isMenuOpen)}
          >
            Menu
          </button>
        )}
      </header>
      {live === null ? null : <Views route={route} isOpen={isMenuOpen} />}
      <main ref={main} tabIndex={-1} class={live === null ? 'alone' : `view-${route.view}`}>
        {isRefused ? (
          <TokenForm />
        ) : live === null ? (
          <CrawlsView route={route} />
        ) : (
          <CrawlView live={live} route={route} />
        )}
      </main>
      <Notices />
    </div>
  )
}

function useLive(crawl: string | null): LiveCrawl | null {
  const live = useMemo(() => (crawl === null ? null : new LiveCrawl(crawl)), [crawl])
  useEffect(() => () => live?.close(), [live])
  return live
}

/** Whoever listens instead of looking hears the name of the view that was opened. */
function useFocusOnView(route: Route, main: HTMLElement | null): void {
  const isFirst = useRef(true)
  useEffect(() => {
    const label = VIEWS[route.view]?.label ?? 'Crawls'
    document.title = route.crawl === null ? 'Portolan' : `${label} · ${shown(route.crawl, 60)} · Portolan`
    if (!isFirst.current) (main?.querySelector('h1') ?? main)?.focus()
    isFirst.current = false
  }, [route.crawl, route.view])
}

function Standing({ live }: { live: LiveCrawl }) {
  const info = useStore(live.info)
  const connection = useStore(live.connection)
  return (
    <div class="standing">
      <strong class="crawl-name">
        <bdi>{shown(info?.name ?? live.id, 80)}</bdi>
      </strong>
      <span role="status" class="state">
        <span class="hidden">State of the crawl: </span>
        {info === null ? null : <StatePill state={info.state} />}
      </span>
      {info === null ? null : (
        <span class="standing-figures soft">
          {info.now === null ? null : <span>{rate(info.now.pagesPerSecond)} pages/s</span>}
          <span>
            {compact(info.figures.pages)} {info.figures.pages === 1 ? 'page' : 'pages'}
          </span>
          <span>{compact(info.figures.waiting)} waiting</span>
        </span>
      )}
      <span class="grow" />
      {connection === 'broken' ? (
        <button type="button" class="button small warn" onClick={() => live.again()}>
          Connection lost · reconnect
        </button>
      ) : null}
    </div>
  )
}

function ThemeSwitch() {
  const theme = useStore(themes)
  const [sign, text] = THEMES[theme]
  return (
    <button
      type="button"
      class="button quiet icon"
      aria-label={`Theme: ${text}`}
      title={`Theme: ${text}`}
      onClick={() => themes.set(nextTheme(theme))}
    >
      <span aria-hidden="true">{sign}</span>
    </button>
  )
}

function Views({ route, isOpen }: { route: Route; isOpen: boolean }) {
  return (
    <nav id="views" aria-label="Views" class={isOpen ? 'open' : ''}>
      {GROUPS.map(({ name, views }) => (
        <div key={name} class="nav-group">
          <h2>{name}</h2>
          <ul>
            {views.map((view) => (
              <li key={view}>
                <a
                  href={hrefOf(route.crawl, view)}
                  {...(route.view === view ? { 'aria-current': 'page' as const } : {})}
                >
                  {VIEWS[view]?.label}
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <a class="nav-all" href={hrefOf(null, 'crawls', null, { all: '1' })}>
        All crawls
      </a>
    </nav>
  )
}

function CrawlView({ live, route }: { live: LiveCrawl; route: Route }) {
  const info = useStore(live.info)
  const error = useStore(live.error)
  const view = VIEWS[route.view]
  if (info === null) {
    if (error !== null) return <Trouble error={error} again={() => live.again()} />
    return <Loading what="Loading the crawl" />
  }
  if (view === undefined) return <Empty title="There is no such view">The menu has those that there are.</Empty>
  const { View } = view
  return <View live={live} info={info} route={route} />
}
