// A real web server on a folder of files, for as long as a test lasts.

import { spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Nginx {
  readonly url: string
  /** Lines of the access log: `METHOD path status bytes`. */
  readonly logPath: string
  stop(): Promise<void>
}

const BINARIES = ['/usr/sbin/nginx', '/usr/local/sbin/nginx', '/usr/bin/nginx', '/usr/local/bin/nginx']

/** Where it is; undefined where it is not installed. */
export function findNginx(): string | undefined {
  return BINARIES.find((path) => existsSync(path))
}

export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Serves `root`. `tools/test-needs.ts` has installed nginx before any test runs. */
export async function startNginx(root: string): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'portolan-nginx-'))
  chmodSync(folder, 0o755)
  const port = await freePort()
  const logPath = join(folder, 'access.log')
  const server = await runNginx({
    folder,
    address: '127.0.0.1',
    port,
    connectionsMax: 256,
    http: `
       default_type application/octet-stream;
       types { text/html html; text/css css; image/png png; text/plain txt; application/xml xml; }
       log_format short '$request_method $request_uri $status $bytes_sent';
       access_log ${logPath} short;
       gzip on; gzip_types text/css application/xml; gzip_min_length 200; absolute_redirect off;
       server { listen 127.0.0.1:${port}; root ${root}; index index.html; }`,
  })
  return {
    url: `http://127.0.0.1:${port}/`,
    logPath,
    async stop() {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export interface NginxRun {
  /** For its configuration and temporary files. */
  readonly folder: string
  /** Where it shows that it has started. */
  readonly address: string
  readonly port: number
  readonly connectionsMax: number
  /** The body of the `http` block. */
  readonly http: string
}

/** Runs nginx as one process, until it is stopped. */
export async function runNginx(run: NginxRun): Promise<{ readonly pid: number; stop(): Promise<void> }> {
  const binary = findNginx()
  if (binary === undefined) throw new Error('nginx is not installed; run: node tools/test-needs.ts')
  const { folder, address, port } = run
  mkdirSync(join(folder, 'tmp'))
  const config = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `daemon off; master_process off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/error.log;
     events { worker_connections ${run.connectionsMax}; }
     http {
       client_body_temp_path ${folder}/tmp; proxy_temp_path ${folder}/tmp; fastcgi_temp_path ${folder}/tmp;
       uwsgi_temp_path ${folder}/tmp; scgi_temp_path ${folder}/tmp;
       ${run.http}
     }`,
  )
  const child = spawn(binary, ['-c', config, '-p', folder, '-e', join(folder, 'error.log')], { stdio: 'ignore' })
  const exited = new Promise<void>((resolve) => void child.on('exit', () => resolve()))
  while (!(await answers(address, port))) {
    if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}

function answers(address: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, address)
    socket.on('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}
