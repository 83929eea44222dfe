import type { Logger } from 'pino';
import type { Gateway } from '../bootstrap/gateway.js';
import type { Config } from '../config.js';

/** What closing everything may take once calls under way have had their time. */
const closingMs = 15_000;

/** Stops the gateway in order. Where it had to end by itself, the exit code is 1, and the end comes in bounded time. */
export async function stopInTime(gateway: Gateway, { server }: Config, log: Logger): Promise<void> {
  const reason = await Promise.race([gateway.failed, Promise.resolve(null)]);
  if (reason !== null) {
    process.exitCode = 1;
    log.info('ending: calls under way may finish');
    // The database may be what is wrong: closing must not wait for it for ever.
    setTimeout(() => process.exit(1), server.shutdownGraceMs + closingMs).unref();
  }
  await gateway.stop();
  if (reason !== null) log.fatal({ reason }, 'ended');
}
