// Real servers of other protocols than HTTP, each a process of its own on a folder of files, for as long as a test lasts.
// `tools/test-needs.ts` has installed them before any test runs.

import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './crawl/nginx.ts'

export interface RealServer extends AsyncDisposable {
  readonly port: number
  readonly folder: string
}

/** Root may not be the one who serves: these servers give up its rights first. */
const IS_ROOT = process.getuid?.() === 0

/** vsftpd for anonymous users; with `tls`, a certificate and its key in PEM. */
export async function startVsftpd(
  root: string,
  tls: { readonly pem: string; readonly isImplicit: boolean } | null = null,
): Promise<RealServer> {
  return start('vsftpd', async (folder, port) => {
    mkdirSync(join(folder, 'empty'))
    const config = join(folder, 'vsftpd.conf')
    const lines = [
      'listen=YES',
      'listen_address=127.0.0.1',
      `listen_port=${port}`,
      'background=NO',
      'anonymous_enable=YES',
      'local_enable=NO',
      `anon_root=${root}`,
      `secure_chroot_dir=${join(folder, 'empty')}`,
      'seccomp_sandbox=NO',
      `vsftpd_log_file=${join(folder, 'log')}`,
      'log_ftp_protocol=YES',
      'xferlog_enable=YES',
      'xferlog_std_format=NO',
      ...(IS_ROOT ? [] : ['run_as_launching_user=YES']),
    ]
    if (tls !== null) {
      writeFileSync(join(folder, 'pem'), tls.pem, { mode: 0o600 })
      lines.push('ssl_enable=YES', 'allow_anon_ssl=YES', 'force_anon_data_ssl=YES', 'force_anon_logins_ssl=YES')
      // The data connection must go on with the session of the control connection.
      lines.push('require_ssl_reuse=YES', 'ssl_ciphers=HIGH', `rsa_cert_file=${join(folder, 'pem')}`)
      lines.push(`rsa_private_key_file=${join(folder, 'pem')}`, `implicit_ssl=${tls.isImplicit ? 'YES' : 'NO'}`)
    }
    writeFileSync(config, `${lines.join('\n')}\n`)
    return spawn(programOf('vsftpd'), [config], { stdio: 'ignore' })
  })
}

/** pyftpdlib: knows MLSD, which vsftpd does not. */
export async function startPyftpd(root: string): Promise<RealServer> {
  return start('python3-pyftpdlib', async (_folder, port) =>
    spawn('/usr/bin/python3', ['-m', 'pyftpdlib', '-i', '127.0.0.1', '-p', String(port), '-d', root], {
      stdio: 'ignore',
    }),
  )
}

/** With the configuration it is shipped with, but for where and what it serves. */
export async function startPygopherd(root: string): Promise<RealServer> {
  return start('pygopherd', async (folder, port) => {
    const changes: Readonly<Record<string, string>> = {
      port: `${port}\nservername = 127.0.0.1\ninterface = 127.0.0.1`,
      root,
      usechroot: 'no',
      pidfile: join(folder, 'pid'),
      cachetime: '0',
      logmethod: 'none',
      mimetypes: join(folder, 'mime.types'),
    }
    writeFileSync(
      join(folder, 'mime.types'),
      'text/html html\ntext/plain txt\nimage/gif gif\napplication/octet-stream bin\n',
    )
    let config = readFileSync('/etc/pygopherd/pygopherd.conf', 'utf8')
    for (const [name, value] of Object.entries(changes)) {
      config = config.replace(new RegExp(`^${name} *=.*$`, 'm'), `${name} = ${value}`)
    }
    writeFileSync(join(folder, 'conf'), config)
    return spawn(programOf('pygopherd'), [join(folder, 'conf')], { stdio: 'ignore' })
  })
}

/** microsocks; with a user name and password where they are given. */
export async function startMicrosocks(login: { user: string; password: string } | null = null): Promise<RealServer> {
  return start('microsocks', async (_folder, port) => {
    const who = login === null ? [] : ['-u', login.user, '-P', login.password]
    return spawn(programOf('microsocks'), ['-i', '127.0.0.1', '-p', String(port), ...who], { stdio: 'ignore' })
  })
}

async function start(name: string, run: (folder: string, port: number) => Promise<ChildProcess>): Promise<RealServer> {
  const folder = mkdtempSync(join(tmpdir(), `portolan-${name}-`))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const child = await run(folder, port)
  const exited = new Promise<void>((resolve) => void child.on('exit', () => resolve()))
  while (!(await answers(port))) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return {
    port,
    folder,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function programOf(name: string): string {
  const path = ['/usr/sbin', '/usr/bin', '/usr/local/sbin', '/usr/local/bin']
    .map((folder) => join(folder, name))
    .find((candidate) => existsSync(candidate))
  if (path === undefined) throw new Error(`${name} is not installed; run: node tools/test-needs.ts`)
  return path
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
