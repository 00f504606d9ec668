// What a line of pages.jsonl or failures.jsonl says by itself, for whoever counts them: the report and the catalogue.

import type { FailureRecord, PageRecord } from './records.ts'

/** Names come from headers; longer ones are cut. */
export const NAME_CHARACTERS_MAX = 60

/** What the counting relies upon; the files are ours, but disks are disks. */
export function isPage(page: PageRecord): boolean {
  return (
    isCrawledUrl(page?.url) &&
    [page.status, page.bytes, page.wireBytes, page.depth, page.firstByteMs].every((figure) => Number.isFinite(figure))
  )
}

export function isFailure(failure: FailureRecord): boolean {
  return isCrawledUrl(failure?.url) && typeof failure.reason === 'string'
}

function isCrawledUrl(url: unknown): boolean {
  return typeof url === 'string' && /^[a-z]+:\/\/[^/]+\//.test(url)
}

/** 'org' of 'example.org'; addresses have none. */
export function topLevelDomain(host: string): string {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  const label = name.slice(name.lastIndexOf('.') + 1)
  return host.startsWith('[') || /^\d+$/.test(label) ? 'IP address' : label.slice(0, NAME_CHARACTERS_MAX)
}

/** 'nginx' of 'nginx/1.22.1 (Debian)': versions would split the table. */
export function softwareName(server: string): string {
  return (/^[^\s/(]+/.exec(server.trim())?.[0] ?? 'unnamed').slice(0, NAME_CHARACTERS_MAX)
}

/** 'en' of 'en-GB'. */
export function primaryLanguage(language: string): string {
  return (/^[a-z]+/i.exec(language)?.[0] ?? language).toLowerCase().slice(0, NAME_CHARACTERS_MAX)
}
