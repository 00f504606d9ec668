// Brings the peers onto the machine: from Debian where we may, from npm into a folder of its own. What cannot be had is said.

import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { canInstall, describeNeed, install, type Need } from '../../tools/debian-packages.ts'
import { findNginx } from '../../test/crawl/nginx.ts'
import type { Contender } from './contender.ts'
import { CRAWLEE_PACKAGE, crawleeFolder } from './crawlee.ts'

/** By the name of the contender. */
const FROM_DEBIAN: Readonly<Record<string, Need>> = {
  wget2: { command: 'wget2', packages: ['wget2'], why: 'a peer to compare with' },
  scrapy: { command: 'scrapy', packages: ['python3-scrapy'], why: 'a peer to compare with' },
}

const SERVER: Need = { command: 'nginx', packages: ['nginx-light'], why: 'the web server that all of them ask' }

/** Ends the bench, saying why, where there is no web server and none can be brought. */
export function needServer(): void {
  if (findNginx() !== undefined) return
  const problem = broughtFromDebian(SERVER)
  if (problem === null) return
  console.error(`There is no web server: ${problem}`)
  process.exit(1)
}

/** What is wrong, or null. */
function broughtFromDebian(need: Need): string | null {
  if (!canInstall()) return `needs root and apt-get: ${describeNeed(need)}`
  return install(need.packages) ? null : `apt-get could not install ${need.packages.join(' ')}`
}

/** Tries to bring a contender that is missing; what is wrong, or null. */
export function bring({ name }: Contender): string | null {
  const need = FROM_DEBIAN[name]
  if (need !== undefined) return broughtFromDebian(need)
  if (name !== 'crawlee') return 'nobody knows where to get it'
  const folder = crawleeFolder()
  console.log(`Installing ${CRAWLEE_PACKAGE} in ${folder}`)
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const { status } = spawnSync('npm', ['install', '--no-audit', '--no-fund', CRAWLEE_PACKAGE], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return status === 0 ? null : `npm could not install ${CRAWLEE_PACKAGE}`
}
