import { startGateway } from '../gateway.js';
import type { CommandContext } from './command.js';
import { stopInTime } from './stop-in-time.js';
import { untilStopped } from './until-stopped.js';

/** Runs the gateway until it is told to stop, or must; then the exit code is 1. */
export async function serve({ config, log }: CommandContext): Promise<void> {
  // Listened for from the beginning: asked to stop while it starts, it stops in order as soon as it has started.
  const stopped = untilStopped(log);
  const gateway = await startGateway(config, log);
  log.info({ url: gateway.url }, `Tallygate is ready at ${gateway.url}`);
  await Promise.race([stopped, gateway.failed]);
  await stopInTime(gateway, config, log);
}
