import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/* The way from a proxy to the gateway, which counts the connections that it is used for. */

export interface CountingWay {
  readonly port: number;
  /** Opened so far. */
  connections(): number;
  stop(): Promise<void>;
}

export async function openCountingWay(to: number): Promise<CountingWay> {
  let count = 0;
  const open = new Set<Socket>();
  const server = createServer((near) => {
    count++;
    const far = connect(to, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.setNoDelay();
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.once('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => count,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}
