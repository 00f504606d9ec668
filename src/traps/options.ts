import { z } from 'zod'
import { choice, count, factor, limit } from '../base/options.ts'

/** What keeps a crawl from being caught, and how sure it must be. 0 turns a detector off. */
export const trapsOptions = z.strictObject({
  traps: choice(['on', 'off'], 'on', {
    text: 'Whether URLs of endless or worthless places are skipped: path loops, calendars, session ids, facets, soft 404s, floods of near-duplicates, endless subdomains.',
    flag: 'traps',
  }),
  pathLoops: count(3, {
    text: 'A path is a loop when a run of directories stands in it so many times in a row, a single directory once more. Also how many directories in a row may show the text of the one above. 0: none is.',
  }),
  calendarAhead: count(2, {
    text: 'Years into the future that a calendar is followed, once it is known as one by the way it turns the year.',
  }),
  calendarBehind: count(30, {
    text: 'Years into the past that such a calendar is followed where its pages lead nowhere but to other dates.',
  }),
  calendarTurns: count(2, {
    text: 'Turns of the year, from one date page to the next, that make a calendar; 0: none is.',
  }),
  sessionIds: count(8, {
    text: 'Times that a parameter of a host changed and the page did not, until URLs that differ from a visited one in it alone are skipped; 0: never.',
  }),
  facetPages: count(200, {
    text: 'Pages of one path with ever other combinations of parameters that led nowhere else, until further combinations are skipped; 0: never.',
  }),
  floodPages: count(200, {
    text: 'Pages of one directory after which further ones are skipped if nearly all were near-duplicates that led nowhere else; 0: never.',
  }),
  softMissing: count(50, {
    text: 'Pages of one directory after which further ones are skipped if nearly all were the page by which the host says that there is none; 0: never.',
  }),
  echoHosts: count(50, {
    text: 'Hosts of one registrable domain after which new ones are skipped if nearly all began with a near-duplicate of another; 0: never.',
  }),
  share: factor(0.95, { text: 'What “nearly all” means.' }, 1),
  nearBits: count(3, { text: 'Bits of 64 in which the SimHashes of near-duplicates differ, at most.' }, { max: 16 }),
  prefixPages: limit({ text: 'Pages of one directory at most; numbers in its name count as the same.' }),
  domainPages: limit({ text: 'Pages of one registrable domain at most.', flag: 'max-pages-per-domain' }),
  domainHosts: limit({ text: 'Hosts of one registrable domain at most.', flag: 'max-hosts-per-domain' }),
  hostsKept: count(10_000, { text: 'Hosts, and registrable domains, whose lessons an agent remembers.' }, { min: 1 }),
  placesKept: count(
    20_000,
    { text: 'Directories, dates and queries whose lessons an agent remembers, of each kind.' },
    { min: 1 },
  ),
})

export type TrapsOptions = z.output<typeof trapsOptions>
