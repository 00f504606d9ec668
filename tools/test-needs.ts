// Brings onto the machine what the tests need beside npm packages. On Debian and as root it installs
// what is missing; elsewhere it says what to install, and stops: a test that cannot run must not look green.
//
//   node tools/test-needs.ts

import { canInstall, describeNeed, install, isPresent, type Need } from './debian-packages.ts'

const NEEDS: readonly Need[] = [
  { command: 'nginx', packages: ['nginx-light'], why: 'a real web server for the crawl tests' },
  { command: 'vsftpd', packages: ['vsftpd'], why: 'a real FTP server, plain and with TLS' },
  {
    command: '/usr/lib/python3/dist-packages/pyftpdlib',
    packages: ['python3-pyftpdlib'],
    why: 'a real FTP server that knows MLSD',
  },
  { command: 'pygopherd', packages: ['pygopherd'], why: 'a real Gopher server' },
  { command: 'nats-server', packages: ['nats-server'], why: 'the engine that nodes share, one and three of them' },
  { command: '/usr/bin/chromium', packages: ['chromium'], why: 'a real browser for the dashboard' },
  { command: 'microsocks', packages: ['microsocks'], why: 'a real SOCKS5 proxy' },
]

const missing = NEEDS.filter((need) => !isPresent(need.command))
if (missing.length > 0) {
  const list = missing.map((need) => `  ${describeNeed(need)}`).join('\n')
  if (!canInstall()) {
    console.error(`The tests need programs that are not here:\n${list}\nInstall them, then run the tests again.`)
    process.exit(1)
  }
  if (!install(missing.flatMap((need) => need.packages))) {
    console.error(`apt-get could not install:\n${list}`)
    process.exit(1)
  }
}
