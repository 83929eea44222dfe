import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { certificate, certificateKey } from '../support/inputs/certificate.js';
import { until } from '../support/until.js';
import { documented, type ProxyName } from './documented.js';

/* Real proxies, each with a configuration, a folder and a port of its own, stopped by its process id. */

const programs: Readonly<Record<ProxyName, string>> = {
  nginx: '/usr/sbin/nginx',
  caddy: '/usr/bin/caddy',
  haproxy: '/usr/sbin/haproxy',
  apache: '/usr/sbin/apache2',
};

const apacheModules = '/usr/lib/apache2/modules';

export const isInstalled = (name: ProxyName): boolean =>
  existsSync(programs[name]) && (name !== 'apache' || existsSync(apacheModules));

export interface ProxyProcess {
  readonly port: number;
  stop(): Promise<void>;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** What an installation has around the part that the page shows. */
function whole(name: ProxyName, part: string, directory: string): string {
  switch (name) {
    case 'nginx':
      return `daemon off; master_process off; pid ${directory}/nginx.pid; error_log ${directory}/error.log;
events { worker_connections 512; }
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((each) => `${each}_temp_path ${directory}/${each};`).join('\n  ')}
${part}
}`;
    case 'caddy':
      return `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${directory}\n}\n${part}`;
    case 'haproxy':
      return `global\n    maxconn 512\n${part}`;
    case 'apache': {
      const modules = ['mpm_event', 'authz_core', 'socache_shmcb', 'ssl', 'proxy', 'proxy_http', 'proxy_wstunnel'];
      const loaded = [...modules, 'rewrite', 'headers'].map(
        (each) => `LoadModule ${each}_module ${apacheModules}/mod_${each}.so`,
      );
      const port = /<VirtualHost (\S+)>/.exec(part)?.[1] ?? '';
      return `${loaded.join('\n')}
ServerRoot ${directory}
DefaultRuntimeDir ${directory}
ServerName localhost
PidFile ${directory}/apache.pid
ErrorLog ${directory}/error.log
User nobody
Group nogroup
StartServers 1
MaxRequestWorkers 25
Listen ${port}
${part}`;
    }
  }
}

const argumentsOf: Readonly<Record<ProxyName, (file: string) => readonly string[]>> = {
  nginx: (file) => ['-c', file],
  caddy: (file) => ['run', '--adapter', 'caddyfile', '--config', file],
  haproxy: (file) => ['-f', file],
  apache: (file) => ['-f', file, '-DFOREGROUND'],
};

const answers = (port: number): Promise<true | null> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(null));
  });

async function started(name: ProxyName, directory: string, text: string, port: number): Promise<ProxyProcess> {
  const file = join(directory, 'configuration');
  await writeFile(file, text);
  const child: ChildProcess = spawn(programs[name], argumentsOf[name](file), {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: directory, XDG_DATA_HOME: directory, XDG_CONFIG_HOME: directory },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (piece) => {
      said = (said + String(piece)).slice(-4000);
    });
  const ended = once(child, 'exit');
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${name} ended: ${said}`);
    return answers(port);
  });
  return {
    port,
    async stop() {
      child.kill(name === 'haproxy' ? 'SIGUSR1' : 'SIGTERM');
      const hard = setTimeout(() => child.kill('SIGKILL'), 2_000);
      await ended;
      clearTimeout(hard);
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

/** As the page has it. */
export async function startDocumented(name: ProxyName, gatewayPort: number): Promise<ProxyProcess> {
  const directory = await mkdtemp(join(tmpdir(), `tallygate-${name}-`));
  const files = {
    certificate: join(directory, 'cert.pem'),
    key: join(directory, 'key.pem'),
    both: join(directory, 'both.pem'),
  };
  await writeFile(files.certificate, certificate);
  await writeFile(files.key, certificateKey);
  await writeFile(files.both, `${certificate}\n${certificateKey}\n`);
  const port = await freePort();
  const part = documented(name, { port, gatewayPort, ...files });
  return started(name, directory, whole(name, part, directory), port);
}

/** nginx with nothing but where to go: HTTP/1.0, the gateway's own address as `Host`, and no word about the client. */
export async function startPlainNginx(gatewayPort: number): Promise<ProxyProcess> {
  const directory = await mkdtemp(join(tmpdir(), 'tallygate-nginx-'));
  const port = await freePort();
  const part = `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${gatewayPort}; } }`;
  return started('nginx', directory, whole('nginx', part, directory), port);
}
