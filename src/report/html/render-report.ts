// report.html: one file that needs nothing else, runs no script and asks no server.

import type { CrawlReport } from '../crawl-report.ts'
import { answers, notFetched } from './answers.ts'
import { brokenSection } from './broken.ts'
import { content } from './content.ts'
import { course } from './course.ts'
import { hostsSection } from './hosts.ts'
import { html, Markup, shorten } from './markup.ts'
import { masthead, overview, ROSE_PATHS, subjectOf } from './overview.ts'
import { settings } from './settings.ts'
import { STYLE } from './style.ts'

/** Nothing may be loaded, run or sent; styles stand in the file, the icon in a data URL. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

const ICON = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" color="#1d6a86">${ROSE_PATHS}</svg>`)}`

export function renderReport(report: CrawlReport): string {
  const sections: readonly (readonly [id: string, name: string, section: Markup | null])[] = [
    ['course', 'Course', course(report.timeline)],
    ['broken', 'Broken', brokenSection(report)],
    ['answers', 'Answers', answers(report)],
    ['hosts', 'Hosts', hostsSection(report)],
    ['content', 'Content', content(report)],
    ['not-fetched', 'Not fetched', notFetched(report)],
    ['settings', 'How it ran', settings(report)],
  ]
  const present = sections.filter(([, , section]) => section !== null)
  // Our own words, and no value of the web in them.
  const rose = new Markup(`<svg viewBox="0 0 24 24" aria-hidden="true">${ROSE_PATHS}</svg>`)
  const nav = html`<nav aria-label="Sections">${present.map(([id, name]) => html`<a href="#${id}">${name}</a>`)}</nav>`
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${POLICY}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <meta name="generator" content="Portolan" />
        <title>${shorten(subjectOf(report), 100)} – crawl report</title>
        <link rel="icon" href="${ICON}" />
        <style>
          ${new Markup(STYLE)}
        </style>
      </head>
      <body>
        ${masthead(report, rose, nav)}
        <main>${overview(report)} ${present.map(([, , section]) => section)}</main>
        <footer>Made by Portolan from the files of the crawl. It holds no script and loads nothing.</footer>
      </body>
    </html> `.text
}
