import { once } from 'node:events';
import { createServer, type IncomingMessage, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/* The gateway behind a proxy that counts the heartbeats of its streams, and the WebSockets that it accepts. */

export interface WatchedGateway {
  readonly url: string;
  /** Resolves once so many more heartbeats have been passed on. */
  heartbeats(count: number): Promise<void>;
  /** WebSockets that have been accepted so far. */
  webSockets(): number;
  stop(): Promise<void>;
}

/** As docs/decisions/0088 has them: OpenAI's, Anthropic's, and an empty line for Gemini's. */
const heartbeat = /^(: PING\n\n|event: ping\ndata: .*\n\n|\r?\n)$/;

export async function watchGateway(gateway: string): Promise<WatchedGateway> {
  let passed = 0;
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const { method, headers, url } = request;
    const onward = send(gateway + url, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('data', (chunk: Buffer) => {
        response.write(chunk);
        if (!heartbeat.test(chunk.toString())) return;
        passed++;
        for (const look of waiting) look();
      });
      answer.once('end', () => response.end()).once('error', () => response.destroy());
    });
    onward.once('error', () => response.destroy());
    response.once('close', () => onward.destroy());
    request.pipe(onward);
  });
  let upgraded = 0;
  server.on('upgrade', ({ method, headers, url }, socket, head) => {
    const onward = send(gateway + url, { method, headers });
    const lines = ({ rawHeaders, statusCode, statusMessage }: IncomingMessage): string => {
      const pairs = Array.from({ length: rawHeaders.length / 2 }, (_, at) => rawHeaders.slice(2 * at, 2 * at + 2));
      return [`HTTP/1.1 ${statusCode} ${statusMessage}`, ...pairs.map((pair) => pair.join(': ')), '', ''].join('\r\n');
    };
    onward.once('upgrade', (answer, far, farHead) => {
      upgraded++;
      socket.write(lines(answer));
      socket.write(farHead);
      far.write(head);
      for (const [from, to] of [
        [socket, far],
        [far, socket],
      ] as const)
        from.on('error', () => to.destroy()).pipe(to);
    });
    onward.once('response', (answer) => {
      socket.write(lines(answer));
      answer.pipe(socket);
    });
    onward.once('error', () => socket.destroy()).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    heartbeats(count) {
      const enough = passed + count;
      return new Promise((resolve) => {
        const look = () => {
          if (passed < enough) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
      });
    },
    webSockets: () => upgraded,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
