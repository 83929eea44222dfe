import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/* What verifies answers of Turnstile's widget, on loopback. It looks at what it is sent as the real one does. */

export interface TurnstileServer {
  readonly url: string;
  /** An answer as the widget gives one to somebody human: good once. */
  answer(): string;
  /** What it was asked, each with whether that was in order. */
  readonly requests: readonly { readonly response: string; readonly remoteip: string; readonly sound: boolean }[];
  behaviour: 'sound' | 'broken' | 'silent';
  stop(): Promise<void>;
}

export const turnstileSecret = 'turnstile-secret-of-tests';

export async function startTurnstile(): Promise<TurnstileServer> {
  const good = new Set<string>();
  const asked: { response: string; remoteip: string; sound: boolean }[] = [];
  let given = 0;

  const server: Server = createServer(async (request, reply) => {
    const form = new URLSearchParams(await text(request));
    const response = form.get('response') ?? '';
    const sound =
      request.method === 'POST' &&
      request.headers['content-type'] === 'application/x-www-form-urlencoded' &&
      form.get('secret') === turnstileSecret;
    asked.push({ response, remoteip: form.get('remoteip') ?? '', sound });
    if (turnstile.behaviour === 'silent') return;
    if (turnstile.behaviour === 'broken') {
      reply.writeHead(502).end('<html>bad gateway</html>');
      return;
    }
    const success = sound && good.delete(response);
    reply.writeHead(200, { 'content-type': 'application/json' });
    reply.end(JSON.stringify({ success, 'error-codes': success ? [] : ['invalid-input-response'] }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const turnstile: TurnstileServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/siteverify`,
    answer() {
      const answer = `answer-${++given}`;
      good.add(answer);
      return answer;
    },
    requests: asked,
    behaviour: 'sound',
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return turnstile;
}
