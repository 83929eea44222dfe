import { readFileSync } from 'node:fs';

/* The configurations of reverse proxies as docs/operating.md has them: what is tested is what is written. */

export type ProxyName = 'nginx' | 'caddy' | 'haproxy' | 'apache';

const page = readFileSync(new URL('../../docs/operating.md', import.meta.url), 'utf8');

/** Of the test instead of the page: where the proxy listens, where the gateway is, and the certificate. */
export interface Locations {
  readonly port: number;
  readonly gatewayPort: number;
  /** Certificate and key in files of their own, and in one. */
  readonly certificate: string;
  readonly key: string;
  readonly both: string;
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`docs/operating.md: a configuration lacks ${JSON.stringify(from)}`);
  return text.replaceAll(from, to);
}

/** The one block of the page in the language of that proxy, in the places of a test. */
export function documented(name: ProxyName, { port, gatewayPort, certificate, key, both }: Locations): string {
  const blocks = [...page.matchAll(new RegExp(`^\`\`\`${name}\\n(.*?)^\`\`\``, 'gms'))].map(([, text = '']) => text);
  const [block, another] = blocks;
  if (block === undefined || another !== undefined)
    throw new Error(`docs/operating.md has ${blocks.length} configurations of ${name} in place of one`);
  const here = replaced(block, '127.0.0.1:3000', `127.0.0.1:${gatewayPort}`);
  const files = here
    .replaceAll('/etc/haproxy/gateway.example.pem', both)
    .replaceAll('/etc/ssl/gateway.example.pem', certificate)
    .replaceAll('/etc/ssl/gateway.example.key', key)
    .replaceAll('gateway.example', 'localhost');
  switch (name) {
    case 'nginx':
      return replaced(files, 'listen 443 ', `listen 127.0.0.1:${port} `);
    case 'caddy':
      // Without a certificate of the test it would ask an authority for one.
      return replaced(
        files,
        'localhost {',
        `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`,
      );
    case 'haproxy':
      return replaced(files, 'bind :443 ', `bind 127.0.0.1:${port} `);
    case 'apache':
      return replaced(files, '<VirtualHost *:443>', `<VirtualHost 127.0.0.1:${port}>`);
  }
}
