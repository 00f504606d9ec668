// Brings onto the machine what the tests need beside npm packages. On Debian and as root it installs
// what is missing; elsewhere it says what to install, and stops: a test that cannot run must not look green.
//
//   node tools/test-needs.ts

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Commands the tests start, and the Debian packages that hold them. */
const NEEDS: readonly { readonly command: string; readonly packages: readonly string[]; readonly why: string }[] = [
  { command: 'nginx', packages: ['nginx-light'], why: 'a real web server for the crawl tests' },
]

/** System folders count too: a user's PATH often lacks /usr/sbin. */
function isPresent(command: string): boolean {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.some((folder) => folder !== '' && existsSync(join(folder, command)))
}

function run(command: string, args: readonly string[]): boolean {
  const { status } = spawnSync(command, args, {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  })
  return status === 0
}

const missing = NEEDS.filter((need) => !isPresent(need.command))
if (missing.length > 0) {
  const packages = missing.flatMap((need) => need.packages)
  const list = missing.map((need) => `  ${need.command} (Debian: ${need.packages.join(' ')}): ${need.why}`).join('\n')
  const canInstall = process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')
  if (!canInstall) {
    console.error(`The tests need programs that are not here:\n${list}\nInstall them, then run the tests again.`)
    process.exit(1)
  }
  console.log(`Installing what the tests need: ${packages.join(' ')}`)
  const install = (): boolean => run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages])
  if (!install() && !(run('apt-get', ['update', '-qq']) && install())) {
    console.error(`apt-get could not install:\n${list}`)
    process.exit(1)
  }
}
